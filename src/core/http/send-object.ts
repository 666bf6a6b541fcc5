import { pipeline, type Readable, Transform } from 'node:stream'
import type { Context } from 'koa'
import { AppError, notFound } from '../errors/errors.ts'
import { contentDisposition } from '../storage/content-disposition.ts'
import {
  type ByteRange,
  ObjectMissingError,
  type ObjectStore,
  type StoredObject,
} from '../storage/object-store.ts'
import type { AdmitDownload } from './downloads.ts'
import type { ErrorResponses, OtherResponses } from './endpoint.ts'
import { parseRange } from './range.ts'

/** Headers that describe the file, and not an error. */
const FILE_HEADERS = ['ETag', 'Last-Modified', 'Content-Disposition', 'Accept-Ranges']
/**
 * How long a client may wait until it follows a redirect. The address works on when the permission behind it is revoked. A client
 * that resumes later asks the platform for another one.
 */
const PRESIGNED_SECONDS = 300
/**
 * How long a client may accept no bytes: a download without progress holds a file and a connection. The system buffers about a
 * megabyte, so a slow client seems to stall for a while.
 */
const STALL_LIMIT_MS = 120_000

export interface SendObjectOptions {
  readonly contentType: string
  /** The name of the file for a client that saves it. */
  readonly fileName: string
  /** Whether browsers show the file instead of saving it. */
  readonly inline?: boolean
  /** Default: `private, no-cache`. */
  readonly cacheControl?: string
  /** A strong ETag with quotation marks, instead of that of the store. */
  readonly etag?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Whether a store that clients can reach sends the object itself. */
  readonly redirect?: boolean
  /** How long the address of a redirect works. Default: five minutes. */
  readonly redirectSeconds?: number
  /** After how long a client that accepts no bytes loses the connection. Default: two minutes. */
  readonly stallMs?: number
  /** Called before a body begins, which ends with the credential of its request. */
  readonly admit?: AdmitDownload
  /** Called when the body breaks off: the client sees a closed connection. */
  readonly onReadError?: (cause: unknown) => void
}

/** The responses of `sendObject` other than 200, for the declaration of a route. */
export const objectResponses: OtherResponses = {
  206: ['when the Range header selects a part of the file'],
  302: ['when the storage sends the file: follow the Location header'],
  304: ['when the file matches the ETag in If-None-Match'],
}

/** The errors of `sendObject`, for the declaration of a route. */
export const objectErrors = {
  404: { not_found: 'when the file does not exist, or you may not see it' },
  416: { invalid_request: 'when the Range header selects nothing of the file' },
  429: { too_many_concurrent_requests: 'when 32 of your downloads are running' },
  503: { storage_unavailable: 'when the storage does not respond' },
} as const satisfies ErrorResponses

/** Answers a GET or HEAD request with an object, or the part of it that the Range header selects (RFC 9110, section 14). */
export async function sendObject(
  http: Context,
  store: ObjectStore,
  key: string,
  options: SendObjectOptions,
): Promise<void> {
  const stored = await store.stat(key)
  if (!stored) throw notFound('File')
  setHeaders(http, stored, options)
  if (isCurrent(http)) {
    http.status = 304
    return
  }
  if (http.method === 'HEAD') {
    http.length = stored.sizeBytes
    return
  }
  try {
    if (options.redirect && (await redirected(http, store, key, options))) return
    await sendBody(http, store, stored, options)
  } catch (cause) {
    for (const name of FILE_HEADERS) http.remove(name)
    throw cause
  }
}

async function sendBody(
  http: Context,
  store: ObjectStore,
  stored: StoredObject,
  { onReadError, admit, stallMs = STALL_LIMIT_MS }: SendObjectOptions,
): Promise<void> {
  const range = requestedRange(http, stored.sizeBytes)
  const bytes = range ? range.end - range.start + 1 : stored.sizeBytes
  await admit?.(http.res)
  const source = await readObject(store, stored, range)
  if (range) {
    http.status = 206
    http.set('Content-Range', `bytes ${range.start}-${range.end}/${stored.sizeBytes}`)
  }
  http.body = guardBody(http, source, bytes, onReadError)
  http.length = bytes
  http.res.setTimeout(stallMs, () => http.res.destroy())
}

function setHeaders(http: Context, stored: StoredObject, options: SendObjectOptions): void {
  http.status = 200
  http.type = options.contentType
  http.etag = options.etag ?? stored.etag
  http.lastModified = stored.modifiedAt
  http.set({
    'Accept-Ranges': 'bytes',
    'Cache-Control': options.cacheControl ?? 'private, no-cache',
    'Content-Disposition': contentDisposition(options.fileName, options.inline ? 'inline' : 'attachment'),
    // Scripts in a file of a user must not run on this origin.
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'X-Content-Type-Options': 'nosniff',
    ...options.headers,
  })
  http.vary('Authorization')
  http.vary('Cookie')
}

/**
 * Returns whether the client has this version. Unlike `http.fresh`, ignores the `Cache-Control: no-cache` that `fetch` adds to every
 * conditional request.
 */
function isCurrent(http: Context): boolean {
  const known = http.get('If-None-Match')
  if (known === '') return http.fresh
  const etag = http.response.get('ETag')
  return known === '*' || known.split(',').some((value) => value.trim().replace(/^W\//, '') === etag)
}

async function redirected(
  http: Context,
  store: ObjectStore,
  key: string,
  { fileName, contentType, redirectSeconds = PRESIGNED_SECONDS }: SendObjectOptions,
): Promise<boolean> {
  const url = await store.presign(key, { expiresSeconds: redirectSeconds, fileName, contentType })
  if (url === undefined) return false
  http.status = 302
  // The address contains a permission, which expires.
  http.set({ Location: url, 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' })
  for (const name of FILE_HEADERS) http.remove(name)
  return true
}

/** Returns the part that the client requests; undefined for the whole object. */
function requestedRange(http: Context, sizeBytes: number): ByteRange | undefined {
  const condition = http.get('If-Range')
  // Dates are too coarse to identify a version, and weak ETags do not promise the same bytes.
  if (condition !== '' && (condition.startsWith('W/') || condition !== http.response.get('ETag'))) {
    return undefined
  }
  const range = parseRange(http.get('Range'), sizeBytes)
  if (range !== 'unsatisfiable') return range
  throw new AppError(
    416,
    'invalid_request',
    `The Range header selects nothing of these ${sizeBytes} bytes.`,
    {
      headers: { 'Content-Range': `bytes */${sizeBytes}` },
    },
  )
}

async function readObject(
  store: ObjectStore,
  { key, etag }: StoredObject,
  range: ByteRange | undefined,
): Promise<Readable> {
  try {
    return await store.read(key, range, etag)
  } catch (cause) {
    if (cause instanceof ObjectMissingError) throw notFound('File') // deleted since
    throw cause
  }
}

/**
 * Returns the body of a response. Its failure closes the connection, because the headers are sent and the client must not take
 * what has arrived for the whole file. A client that goes away ends the read.
 */
function guardBody(
  http: Context,
  source: Readable,
  bytes: number,
  onReadError: SendObjectOptions['onReadError'],
): Readable {
  let remaining = bytes
  const body = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      remaining -= chunk.length
      done(null, chunk)
    },
    flush: (done) => done(remaining === 0 ? null : new Error(`The body lacks ${remaining} bytes.`)),
  })
  return pipeline(source, body, (cause) => {
    if (!cause) return
    http.res.destroy()
    if (cause.code !== 'ERR_STREAM_PREMATURE_CLOSE') onReadError?.(cause)
  })
}
