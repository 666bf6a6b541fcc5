import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import {
  DeleteObjectsCommand,
  GetObjectCommand,
  type GetObjectCommandOutput,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { contentDisposition } from './content-disposition.ts'
import { isKey, requireKey, requirePrefix } from './object-keys.ts'
import {
  type ByteRange,
  ObjectMissingError,
  type ObjectStore,
  type ObjectWriter,
  StorageUnavailableError,
  type StoredObject,
} from './object-store.ts'
import { guardRead } from './read-guard.ts'
import { isMissing, s3Error, statusOf } from './s3-errors.ts'
import { createS3Client, createSigner, request, type S3Settings, uploadLimitMs } from './s3-requests.ts'
import { S3Writer } from './s3-writer.ts'

/** The most that S3 accepts: objects of one deletion, and seconds of an address. */
const MAX_DELETED = 1_000
const MAX_EXPIRES_SECONDS = 604_800

/** Stores objects in a bucket of S3, or of a server with the same interface. */
export class S3Store implements ObjectStore {
  readonly #settings: S3Settings
  readonly #client: S3Client
  readonly #signer: S3Client | undefined

  constructor(settings: S3Settings) {
    this.#settings = settings
    this.#client = createS3Client(settings)
    this.#signer = createSigner(settings)
  }

  async put(key: string, bytes: Uint8Array): Promise<StoredObject> {
    const command = new PutObjectCommand({ ...this.#target(key), Body: bytes })
    const limitMs = uploadLimitMs(bytes.length)
    const { ETag } = await request((options) => this.#client.send(command, options), { limitMs })
    return describe(key, bytes.length, ETag)
  }

  async create(key: string, { expectedBytes = 0 } = {}): Promise<ObjectWriter> {
    return new S3Writer({
      client: this.#client,
      target: this.#target(key),
      expectedBytes,
      put: (bytes) => this.put(key, bytes),
      describe: (sizeBytes, etag) => describe(key, sizeBytes, etag),
    })
  }

  async stat(key: string): Promise<StoredObject | undefined> {
    const command = new HeadObjectCommand(this.#target(key))
    try {
      const head = await request((options) => this.#client.send(command, options))
      return describe(key, Number(head.ContentLength), head.ETag, head.LastModified)
    } catch (error) {
      if (error instanceof Error && isMissing(error.cause)) return undefined
      throw error
    }
  }

  async read(key: string, range?: ByteRange, etag?: string): Promise<Readable> {
    const command = new GetObjectCommand({
      ...this.#target(key),
      ...(range && { Range: `bytes=${range.start}-${range.end}` }),
      ...(etag !== undefined && { IfMatch: etag }),
    })
    try {
      const response = await request((options) => this.#client.send(command, options))
      const body = response.Body as Readable // always, on Node
      const expectedBytes = lengthOf(response, range)
      if (expectedBytes === undefined) {
        body.destroy()
        const cause = new Error(`S3 sent ${response.ContentRange} instead of ${range?.start}-${range?.end}.`)
        throw new StorageUnavailableError(undefined, { cause })
      }
      return guardRead(body, { expectedBytes, translate: s3Error })
    } catch (error) {
      throw readError(key, error)
    }
  }

  async readBytes(key: string, range?: ByteRange): Promise<Uint8Array> {
    return await buffer(await this.read(key, range))
  }

  async delete(keys: readonly string[]): Promise<void> {
    const objects = keys.map((key) => ({ Key: this.#target(key).Key }))
    for (let first = 0; first < objects.length; first += MAX_DELETED) {
      const Delete = { Objects: objects.slice(first, first + MAX_DELETED), Quiet: true }
      const command = new DeleteObjectsCommand({ Bucket: this.#settings.bucket, Delete })
      const { Errors = [] } = await request((options) => this.#client.send(command, options))
      const [error] = Errors.filter(({ Code }) => Code !== 'NoSuchKey')
      if (!error) continue
      const cause = new Error(`S3 did not delete ${error.Key}: ${error.Code} ${error.Message}`)
      throw new StorageUnavailableError(undefined, { cause })
    }
  }

  async *list(prefix: string): AsyncGenerator<StoredObject> {
    requirePrefix(prefix)
    const ours = this.#settings.prefix
    let token: string | undefined
    do {
      const command = new ListObjectsV2Command({
        Bucket: this.#settings.bucket,
        Prefix: ours + prefix,
        ...(token !== undefined && { ContinuationToken: token }),
      })
      const page = await request((options) => this.#client.send(command, options))
      for (const { Key = '', Size = 0, ETag, LastModified } of page.Contents ?? []) {
        const key = Key.slice(ours.length)
        if (isKey(key)) yield describe(key, Size, ETag, LastModified)
      }
      token = page.IsTruncated ? page.NextContinuationToken : undefined
    } while (token !== undefined)
  }

  async presign(
    key: string,
    options: { expiresSeconds: number; fileName: string; contentType: string },
  ): Promise<string | undefined> {
    const target = this.#target(key)
    if (!this.#signer) return undefined
    const command = new GetObjectCommand({
      ...target,
      ResponseContentDisposition: contentDisposition(options.fileName),
      ResponseContentType: options.contentType,
    })
    const expiresIn = Math.min(options.expiresSeconds, MAX_EXPIRES_SECONDS)
    try {
      return await getSignedUrl(this.#signer, command, { expiresIn })
    } catch (cause) {
      throw s3Error(cause) // the machine provides no credentials
    }
  }

  async close(): Promise<void> {
    this.#client.destroy()
    this.#signer?.destroy()
  }

  #target(key: string): { Bucket: string; Key: string } {
    requireKey(key)
    return { Bucket: this.#settings.bucket, Key: this.#settings.prefix + key }
  }
}

function describe(key: string, sizeBytes: number, etag = '""', modifiedAt = new Date()): StoredObject {
  return { key, sizeBytes, etag: etag.startsWith('"') ? etag : `"${etag}"`, modifiedAt }
}

/** Returns the length of a response; undefined if it is not the requested part. */
function lengthOf(response: GetObjectCommandOutput, range: ByteRange | undefined): number | undefined {
  if (!range) return Number(response.ContentLength)
  const [, start, end, size] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(response.ContentRange ?? '') ?? []
  const isRequested = Number(start) === range.start && Number(end) === Math.min(range.end, Number(size) - 1)
  return isRequested ? Number(end) - Number(start) + 1 : undefined
}

/** Returns the error of a read: the object is missing, has changed, or has no such part. */
function readError(key: string, error: unknown): unknown {
  const cause = error instanceof Error ? error.cause : undefined
  if (isMissing(cause)) return new ObjectMissingError(`${key} does not exist.`, { cause })
  if (statusOf(cause) === 412) return new ObjectMissingError(`${key} has changed.`, { cause })
  if (statusOf(cause) === 416) return new RangeError(`${key} has no such part.`, { cause })
  return error
}
