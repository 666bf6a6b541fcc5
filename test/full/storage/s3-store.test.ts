import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  ObjectMissingError,
  StorageFullError,
  StorageUnavailableError,
} from '../../../src/core/storage/object-store.ts'
import { S3Store } from '../../../src/core/storage/s3-store.ts'
import { listening } from '../../support/network/listening.ts'
import { createTcpProxy } from '../../support/network/tcp-proxy.ts'
import { python } from '../../support/programs/external-programs.ts'
import { isSigned } from '../../support/storage/presigned-url.ts'
import { type S3Server, startS3Server } from '../../support/storage/s3-server.ts'
import { keysIn } from '../../support/storage/store-fixture.ts'

const run = promisify(execFile)
const MIB = 1024 * 1024
/** Far below the limits of the callers, and above those of the store on a busy machine. */
const OUTAGE_LIMIT_MS = 20_000

let server: S3Server
let store: S3Store
beforeAll(async () => {
  server = await startS3Server()
  store = new S3Store(server.settings())
})
afterAll(async () => {
  await store.close()
  await server[Symbol.asyncDispose]()
})

async function outageOf(work: Promise<unknown>): Promise<StorageUnavailableError> {
  const startMs = performance.now()
  const error = await work.then(
    () => new Error('The work succeeded.'),
    (cause) => cause,
  )
  expect(error).toBeInstanceOf(StorageUnavailableError)
  expect(error.message, 'no address').toBe(new StorageUnavailableError().message)
  expect(performance.now() - startMs).toBeLessThan(OUTAGE_LIMIT_MS)
  return error
}

describe('S3 that does not respond', () => {
  test.each(['cut', 'silence'] as const)(
    '%s: every operation fails in time, and works again afterwards',
    async (fault) => {
      await using proxy = await createTcpProxy(server.url)
      const proxied = new S3Store(server.settings({ endpoint: proxy.url, prefix: `${fault}/` }))
      await proxied.put('before', Buffer.from('x'))
      const writer = await proxied.create('large')
      await writer.write(Buffer.alloc(9 * MIB))

      proxy[fault]()
      await Promise.all([
        outageOf(proxied.put('during', Buffer.from('x'))),
        outageOf(proxied.stat('before')),
        outageOf(proxied.read('before')),
        outageOf(proxied.delete(['nothing'])),
        outageOf(keysIn(proxied)),
        outageOf(proxied.create('other').then((other) => other.write(Buffer.alloc(9 * MIB)))),
      ])

      proxy.restore()
      await writer.abort()
      await proxied.put('after', Buffer.from('x'))
      // Bytes on their way may arrive after the failure.
      const keys = await keysIn(proxied)
      expect(keys.filter((key) => key !== 'during')).toEqual(['after', 'before'])
      await proxied.close()
    },
  )

  test('an upload whose connection breaks becomes visible as a whole, or fails and leaves nothing', async () => {
    await using proxy = await createTcpProxy(server.url)
    const proxied = new S3Store(server.settings({ endpoint: proxy.url, prefix: 'broken/' }))
    const writer = await proxied.create('large')
    for (let part = 0; part < 5; part++) await writer.write(Buffer.alloc(8 * MIB, part))
    proxy.cut()
    await outageOf(writer.write(Buffer.alloc(8 * MIB)).then(() => writer.complete()))
    await expect(writer.write(Buffer.alloc(1))).rejects.toThrow(StorageUnavailableError)
    await expect(writer.complete()).rejects.toThrow(StorageUnavailableError)
    proxy.restore()
    expect(await keysIn(proxied)).toEqual([])
    await proxied.close()
  })

  test('a read whose connection breaks fails, and never ends early', async () => {
    await store.put('cut-read', randomBytes(24 * MIB))
    await using proxy = await createTcpProxy(server.url)
    const proxied = new S3Store(server.settings({ endpoint: proxy.url }))
    const stream = await proxied.read('cut-read')
    const readAll = async () => {
      let received = 0
      for await (const chunk of stream) {
        received += chunk.length
        if (received > MIB) proxy.cut()
      }
    }
    await outageOf(readAll())
    await proxied.close()
  })
})

test.each([
  [507, 'InsufficientStorage', StorageFullError],
  [403, 'QuotaExceeded', StorageFullError],
  [507, 'XMinioStorageFull', StorageFullError],
  [403, 'AccessDenied', StorageUnavailableError],
  [404, 'NoSuchBucket', StorageUnavailableError],
])('the response %i %s is reported as an error of the storage', async (status, code, type) => {
  await using other = await listening((request, response) => {
    request.resume()
    request.once('end', () => {
      response.writeHead(status, { 'Content-Type': 'application/xml' })
      response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>A reason</Message></Error>`)
    })
  })
  const rejecting = new S3Store(server.settings({ endpoint: other.url }))
  const error = await rejecting.put('a', Buffer.from('x')).catch((cause) => cause)
  expect(error.constructor).toBe(type)
  expect(error.cause.name).toBe(code)
  await rejecting.close()
})

test.each([
  [412, '<Error><Code>PreconditionFailed</Code></Error>', ObjectMissingError],
  [200, 'all of it', StorageUnavailableError],
])('a server that answers a part of a version with %i is not believed', async (status, body, type) => {
  await using other = await listening((request, response) => {
    expect(request.headers).toMatchObject({ 'if-match': '"v1"', range: 'bytes=2-4' })
    response.writeHead(status).end(body)
  })
  const misled = new S3Store(server.settings({ endpoint: other.url }))
  await expect(misled.read('a', { start: 2, end: 4 }, '"v1"')).rejects.toThrow(type)
  await misled.close()
})

test('every upload carries a checksum that the server can verify', async () => {
  const checksums: unknown[] = []
  await using other = await listening((request, response) => {
    request.resume()
    checksums.push(request.headers['x-amz-checksum-crc32'])
    request.once('end', () => response.writeHead(200, { ETag: '"x"' }).end())
  })
  const checked = new S3Store(server.settings({ endpoint: other.url }))
  await checked.put('a', Buffer.from('123456789'))
  await checked.close()
  expect(checksums).toEqual([Buffer.from('cbf43926', 'hex').toString('base64')])
})

test('more than a thousand objects are listed and deleted, and those outside the prefix stay', async () => {
  const inPrefix = new S3Store(server.settings({ prefix: 'many/deep/' }))
  await store.put('many/other', Buffer.from('x'))
  const keys = Array.from({ length: 1_203 }, (_, index) => `n/${String(index).padStart(6, '0')}`)
  for (let first = 0; first < keys.length; first += 50) {
    await Promise.all(keys.slice(first, first + 50).map((key) => inPrefix.put(key, Buffer.from(key))))
  }
  expect(await keysIn(inPrefix)).toEqual(keys)
  expect(await keysIn(store, 'many/deep/n/0012')).toHaveLength(3)
  await inPrefix.delete(keys)
  expect(await keysIn(store, 'many/')).toEqual(['many/other'])
  await inPrefix.close()
})

describe('an address for clients', () => {
  const options = { expiresSeconds: 60, fileName: 'Käfer.mcap', contentType: 'application/octet-stream' }

  test('downloads the object without credentials, also a part of it, as a file with its name', async () => {
    await store.put('presigned', Buffer.from('0123456789'))
    const url = (await store.presign('presigned', options)) as string
    const response = await fetch(url, { headers: { Range: 'bytes=2-4' } })
    expect(response.status).toBe(206)
    expect(await response.text()).toBe('234')
    expect(response.headers.get('Content-Type')).toBe('application/octet-stream')
    expect(response.headers.get('Content-Disposition')).toContain(`filename*=UTF-8''K%C3%A4fer.mcap`)
    expect(isSigned(url, 'S3RVER')).toBe(true)
    expect(isSigned(url.replace('/presigned?', '/other?'), 'S3RVER')).toBe(false)
    expect(url).not.toContain('checksum')
  })

  test('names the public address, and does not exist where clients do not reach the server', async () => {
    const withPublic = new S3Store(server.settings({ publicEndpoint: 'https://files.example' }))
    expect(await withPublic.presign('a', options)).toMatch(
      /^https:\/\/files\.example\/wheelhouse\/a\?.*X-Amz-Signature=/,
    )
    const hidden = new S3Store(server.settings({ publicEndpoint: null }))
    expect(await hidden.presign('a', options)).toBeUndefined()
    await Promise.all([withPublic.close(), hidden.close()])
  })
})

test('an upload holds a few parts in memory, however large it is', async () => {
  const { heldBytes } = await uploadToNowhere(160 * MIB)
  expect(heldBytes).toBeLessThanOrEqual(3 * 8 * MIB)
})

/** Uploads to a server that only counts. Returns the most bytes that were written and had not arrived. */
async function uploadToNowhere(bytes: number): Promise<{ heldBytes: number }> {
  let [written, arrived, heldBytes] = [0, 0, 0]
  await using counter = await listening(async (request, response) => {
    for await (const chunk of request) {
      if (request.method === 'PUT') arrived += chunk.length
    }
    const body = request.url?.includes('uploads')
      ? '<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>'
      : '<CompleteMultipartUploadResult><ETag>"e"</ETag></CompleteMultipartUploadResult>'
    response.writeHead(200, { ETag: '"part"' }).end(request.method === 'POST' ? body : undefined)
  })
  const counted = new S3Store(server.settings({ endpoint: counter.url }))
  const writer = await counted.create('a')
  while (written < bytes) {
    await writer.write(Buffer.alloc(MIB))
    written += MIB
    heldBytes = Math.max(heldBytes, written - arrived)
  }
  expect(await writer.complete()).toMatchObject({ sizeBytes: bytes, etag: '"e"' })
  expect(arrived).toBe(bytes)
  await counted.close()
  return { heldBytes }
}

test('boto3 reads what the store wrote, and the store reads what boto3 wrote', async () => {
  const bytes = randomBytes(12 * MIB)
  const writer = await store.create('boto/recording.mcap')
  await writer.write(bytes)
  await writer.complete()
  await store.put('boto/segments/00000001.mcap', Buffer.from('segment'))
  const script = `
import boto3, hashlib, json, sys
s3 = boto3.client('s3', endpoint_url=sys.argv[1], region_name='us-east-1', aws_access_key_id='S3RVER', aws_secret_access_key='S3RVER')
bucket = sys.argv[2]
body = s3.get_object(Bucket=bucket, Key='boto/recording.mcap')['Body'].read()
part = s3.get_object(Bucket=bucket, Key='boto/recording.mcap', Range='bytes=8388600-8388615')['Body'].read()
keys = [o['Key'] for o in s3.list_objects_v2(Bucket=bucket, Prefix='boto/')['Contents']]
s3.put_object(Bucket=bucket, Key='boto/written.bin', Body=b'by boto3')
print(json.dumps({'sha256': hashlib.sha256(body).hexdigest(), 'part': part.hex(), 'keys': keys}))`
  const { stdout } = await run(await python(['boto3']), ['-c', script, server.url, server.bucket])
  expect(JSON.parse(stdout)).toEqual({
    sha256: createHash('sha256').update(bytes).digest('hex'),
    part: bytes.subarray(8_388_600, 8_388_616).toString('hex'),
    keys: ['boto/recording.mcap', 'boto/segments/00000001.mcap'],
  })
  expect(Buffer.from(await store.readBytes('boto/written.bin')).toString()).toBe('by boto3')
})
