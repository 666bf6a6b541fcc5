import { once } from 'node:events'
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createApp } from '../../../src/core/http/app.ts'
import { endpoint } from '../../../src/core/http/endpoint.ts'
import { objectErrors, objectResponses, sendObject } from '../../../src/core/http/send-object.ts'
import { type ObjectStore, StorageUnavailableError } from '../../../src/core/storage/object-store.ts'
import { ask } from '../../support/network/http-request.ts'
import { type StoreFixture, storeFactories } from '../../support/storage/store-fixture.ts'
import { waitFor } from '../../support/world/wait.ts'

const CONTENT = '0123456789'
const LARGE_BYTES = 24 * 1024 * 1024

/** Serves objects of a store by three routes, whose responses are validated against their declarations. */
async function serve(getStore: () => ObjectStore) {
  const readErrors: unknown[] = []
  const route = (path: string, options: Partial<Parameters<typeof sendObject>[3]>) =>
    endpoint({
      method: 'get',
      path,
      summary: 'Sends a file',
      access: 'public',
      response: [200],
      media: ['application/octet-stream'],
      errors: objectErrors,
      otherResponses: objectResponses,
      run: ({ http }) =>
        sendObject(http, getStore(), `files/${http.params.name}`, {
          contentType: 'application/octet-stream',
          fileName: 'Käfer.mcap',
          onReadError: (cause) => void readErrors.push(cause),
          ...options,
        }),
    })
  const app = createApp({
    log: pino({ level: 'silent' }),
    corsOrigins: [],
    trustedProxies: 0,
    https: false,
    before: [],
    validateResponses: true,
    authenticate: async () => undefined,
    endpoints: [
      route('/sent/{name}', {}),
      route('/hashed/{name}', {
        etag: '"sha256"',
        cacheControl: 'public, max-age=60',
        headers: { 'X-Linked-Size': '10' },
      }),
      route('/redirected/{name}', { redirect: true }),
      route('/impatient/{name}', { stallMs: 3_000 }),
    ],
  })
  const server = createServer(app.callback()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    readErrors,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

describe.each(storeFactories)('with %s', (name, create) => {
  let fixture: StoreFixture
  let site: Awaited<ReturnType<typeof serve>>
  let store: ObjectStore
  beforeAll(async () => {
    fixture = await create()
    await fixture.store.put('files/a', Buffer.from(CONTENT))
    await fixture.store.put('files/empty', new Uint8Array())
    await fixture.store.put('files/large', Buffer.alloc(LARGE_BYTES, 7))
    site = await serve(() => store)
  })
  beforeEach(() => {
    store = fixture.store
  })
  afterAll(async () => {
    await site[Symbol.asyncDispose]()
    await fixture[Symbol.asyncDispose]()
  })
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    ask(site.url + path, { headers, method })

  test('sends an object with its version, type and name', async () => {
    const answer = await get('/sent/a')
    expect(answer).toMatchObject({ status: 200, body: CONTENT })
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      etag: (await store.stat('files/a'))?.etag,
      'content-length': '10',
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="K_fer.mcap"; filename*=UTF-8''K%C3%A4fer.mcap`,
      'accept-ranges': 'bytes',
      'cache-control': 'private, no-cache',
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      vary: expect.stringContaining('Authorization'),
      'last-modified': expect.stringMatching(/GMT$/),
    })
    expect(await get('/sent/empty')).toMatchObject({ status: 200, body: '' })
  })

  test('answers HEAD like GET, without a body and without a redirect', async () => {
    const sent = await get('/sent/a')
    for (const path of ['/sent/a', '/redirected/a']) {
      const answer = await get(path, { Range: 'bytes=0-1' }, 'HEAD')
      expect(answer).toMatchObject({ status: 200, body: '' })
      for (const header of ['etag', 'content-length', 'content-type', 'accept-ranges', 'last-modified']) {
        expect(answer.headers.get(header), header).toBe(sent.headers.get(header))
      }
    }
    expect((await get('/sent/empty', {}, 'HEAD')).headers.get('content-length')).toBe('0')
    expect(await get('/sent/nothing', {}, 'HEAD')).toMatchObject({ status: 404 })
  })

  test('answers 304 for a version that the client has', async () => {
    const etag = (await get('/sent/a')).headers.get('etag') as string
    for (const value of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      for (const path of ['/sent/a', '/redirected/a']) {
        const answer = await get(path, { 'If-None-Match': value, Range: 'bytes=0-1' })
        expect(answer, value).toMatchObject({ status: 304, body: '' })
        expect(answer.headers.get('etag')).toBe(etag)
      }
    }
    expect((await get('/sent/a', { 'If-None-Match': '"other"' })).status).toBe(200)
  })

  // s3rver answers bytes=0-0 with the whole object, which the store refuses.
  const ranges = [
    ...(name === 'S3' ? [] : [['bytes=0-0', '0', '0-0'] as const]),
    ['bytes=0-9', CONTENT, '0-9'],
    ['bytes=4-6', '456', '4-6'],
    ['bytes=9-9', '9', '9-9'],
    ['bytes=7-', '789', '7-9'],
    ['bytes=7-99', '789', '7-9'],
    ['bytes=-2', '89', '8-9'],
    ['bytes=-99', CONTENT, '0-9'],
  ] as const
  test.each(ranges)('%s selects a part', async (range, body, part) => {
    const answer = await get('/sent/a', { Range: range })
    expect(answer).toMatchObject({ status: 206, body })
    expect(answer.headers.get('content-range')).toBe(`bytes ${part}/10`)
    expect(answer.headers.get('content-length')).toBe(String(body.length))
    expect(answer.headers.get('etag')).toBe((await store.stat('files/a'))?.etag)
  })

  test.each(['bytes=10-', 'bytes=10-20', 'bytes=-0'])('%s selects nothing', async (range) => {
    const answer = await get('/sent/a', { Range: range })
    expect(answer).toMatchObject({ status: 416, body: { error: expect.stringContaining('Range') } })
    expect(answer.headers.get('content-range')).toBe('bytes */10')
    for (const header of ['etag', 'content-disposition', 'last-modified']) {
      expect(answer.headers.get(header)).toBeNull()
    }
    expect((await get('/sent/empty', { Range: 'bytes=0-' })).headers.get('content-range')).toBe('bytes */0')
  })

  test.each(['bytes=5-4', 'bytes=0-1,3-4', 'items=0-1', 'bytes=x'])('%s is ignored', async (range) => {
    expect(await get('/sent/a', { Range: range })).toMatchObject({ status: 200, body: CONTENT })
  })

  test('resumes only the version that the client has', async () => {
    const sent = await get('/sent/a')
    const etag = sent.headers.get('etag') as string
    const resumed = (condition: string) => get('/sent/a', { Range: 'bytes=5-', 'If-Range': condition })
    expect(await resumed(etag)).toMatchObject({ status: 206, body: '56789' })
    for (const condition of ['"other"', `W/${etag}`, sent.headers.get('last-modified') as string]) {
      expect(await resumed(condition), condition).toMatchObject({ status: 200, body: CONTENT })
    }
  })

  test('takes version, cache control and headers from the route', async () => {
    const answer = await get('/hashed/a')
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      etag: '"sha256"',
      'cache-control': 'public, max-age=60',
      'x-linked-size': '10',
    })
    expect((await get('/hashed/a', { 'If-None-Match': '"sha256"' })).status).toBe(304)
    expect((await get('/hashed/a', { Range: 'bytes=1-2', 'If-Range': '"sha256"' })).body).toBe('12')
  })

  test('redirects to a store that clients reach, and sends the object of another one itself', async () => {
    const answer = await get('/redirected/a')
    if (name !== 'S3') {
      expect(answer).toMatchObject({ status: 200, body: CONTENT })
      return
    }
    expect(answer.status).toBe(302)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const followed = await fetch(`${site.url}/redirected/a`, { headers: { Range: 'bytes=2-4' } })
    expect(await followed.text()).toBe('234')
  })

  test('an object that does not exist is a 404, an outage a 503, both without headers of a file', async () => {
    for (const path of ['/sent/nothing', '/redirected/nothing']) {
      expect(await get(path)).toMatchObject({ status: 404, body: { error: 'File not found' } })
    }
    const outage = () => Promise.reject(new StorageUnavailableError())
    store = overriding(fixture.store, { read: outage })
    const answer = await get('/sent/a')
    expect(answer).toMatchObject({ status: 503, body: { error: new StorageUnavailableError().message } })
    expect(answer.headers.get('wheelhouse-error')).toBe('storage_unavailable')
    for (const header of ['etag', 'content-disposition']) expect(answer.headers.get(header)).toBeNull()
    store = overriding(fixture.store, { stat: outage })
    expect((await get('/sent/a')).status).toBe(503)
    store = overriding(fixture.store, { presign: outage })
    expect((await get('/redirected/a')).status).toBe(503)
  })

  test('a client that goes away ends the read', async () => {
    const streams: Readable[] = []
    store = overriding(fixture.store, {
      read: async (...args) => {
        const stream = await fixture.store.read(...args)
        streams.push(stream)
        return stream
      },
    })
    const before = site.readErrors.length
    const response = await open(`${site.url}/sent/large`)
    await once(response, 'readable')
    expect(streams[0]?.destroyed).toBe(false)
    response.destroy()
    await waitFor(() => expect(streams[0]?.destroyed).toBe(true))
    expect(site.readErrors).toHaveLength(before)
  })

  test('a client that accepts no bytes loses the connection, and a slow one does not', async () => {
    const streams: Readable[] = []
    store = overriding(fixture.store, {
      read: async (...args) => {
        const stream = await fixture.store.read(...args)
        streams.push(stream)
        return stream
      },
    })
    const [stalled, slow] = [
      await open(`${site.url}/impatient/large`),
      await open(`${site.url}/impatient/large`),
    ]
    await waitFor(() => expect(streams).toHaveLength(2))
    let received = 0
    for (const endMs = performance.now() + 5_000; performance.now() < endMs; ) {
      await delay(10)
      received += slow.read(slow.readableLength || undefined)?.length ?? 0
    }
    await waitFor(() => expect(streams[0]?.destroyed).toBe(true))
    received += (await buffer(slow)).length
    expect(received).toBe(LARGE_BYTES)
    stalled.destroy()
  })

  test.each([
    ['fails', async () => Promise.reject(new Error('disk error'))],
    ['ends early', async () => undefined],
  ])(
    'a read that %s closes the connection, so that the client does not take a part for the whole',
    async (_how, end) => {
      const before = site.readErrors.length
      store = overriding(fixture.store, {
        read: async () =>
          Readable.from(
            (async function* () {
              yield Buffer.alloc(100_000)
              await end()
            })(),
          ),
      })
      const response = await open(`${site.url}/sent/large`)
      expect(response.headers['content-length']).toBe(String(LARGE_BYTES))
      await expect(buffer(response)).rejects.toThrow('aborted')
      await waitFor(() => expect(site.readErrors).toHaveLength(before + 1))
    },
  )

  test('sends a large object whole to many clients at once', async () => {
    const bodies = await Promise.all(
      [1, 2, 3, 4].map(async () => (await fetch(`${site.url}/sent/large`)).arrayBuffer()),
    )
    for (const body of bodies) expect(Buffer.from(body).equals(Buffer.alloc(LARGE_BYTES, 7))).toBe(true)
  })
})

/** Returns a store with other methods. */
function overriding(store: ObjectStore, methods: Partial<ObjectStore>): ObjectStore {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(methods, name) ?? Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** Begins a request and does not read the body. */
async function open(url: string): Promise<IncomingMessage> {
  const request = httpRequest(url).end()
  const [response] = await once(request, 'response')
  return response
}
