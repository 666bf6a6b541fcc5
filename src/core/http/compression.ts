import { Readable } from 'node:stream'
import { constants } from 'node:zlib'
import type { Context, Middleware } from 'koa'
import compress from 'koa-compress'

/** Below this size, the headers of a compressed response cost more than it saves. */
const MIN_BYTES = 1_024
/** Qualities above it cost more processor time than the network saves. */
const BROTLI_QUALITY = 4

const TEXT_TYPE = /^text\/(?!event-stream)|[/+](json|xml)$|\/javascript$/

/**
 * Pages of the sign-in and of mail links contain secrets of forms. The length of a compressed page reveals parts of a
 * secret to a program that can add text to the page and see its length (BREACH).
 */
const WITH_SECRETS = /^\/(auth|idp|unsubscribe)(\/|$)/

/**
 * Compresses texts from 1 kB on with Brotli or gzip. Responses to POST, PATCH and DELETE stay as they are, because those
 * that issue tokens and keys are among them. Streams stay as they are, too: events must arrive at once, and downloads
 * have a length.
 */
export function compression(): Middleware {
  const compressBody = compress({
    threshold: MIN_BYTES,
    filter: (type) => TEXT_TYPE.test(type),
    br: { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } },
    deflate: false,
    zstd: false,
  })
  return (http, next) =>
    compressBody(http, async () => {
      await next()
      const encoding = isCompressible(http) ? acceptedEncoding(http) : undefined
      if (encoding === undefined) http.compress = false
      else if (http.method === 'HEAD') announceEncoding(http, encoding)
    })
}

/** Returns the best encoding that the client accepts; undefined for a client that wants none. */
export function acceptedEncoding(http: Context): 'br' | 'gzip' | undefined {
  return (['br', 'gzip'] as const).find(
    (encoding) => http.acceptsEncodings(encoding, 'identity') === encoding,
  )
}

function isCompressible(http: Context): boolean {
  if (!/^(GET|HEAD)$/.test(http.method) || WITH_SECRETS.test(http.path)) return false
  if (http.status === 206 || http.res.hasHeader('Content-Range') || http.res.hasHeader('Content-Encoding'))
    return false
  const { type } = http.response
  if (!TEXT_TYPE.test(type) || !isComplete(http.body)) return false
  // Serialized once, for the length and for the response.
  if (typeof http.body === 'object' && !Buffer.isBuffer(http.body)) http.body = JSON.stringify(http.body)
  return http.length >= MIN_BYTES
}

/** Returns whether the whole body is in memory: a text, bytes or a JSON value. */
function isComplete(body: unknown): boolean {
  if (typeof body === 'string' || Buffer.isBuffer(body) || Array.isArray(body)) return true
  return typeof body === 'object' && body !== null && Object.getPrototypeOf(body) === Object.prototype
}

/** Gives the response to HEAD the headers of GET: the encoding, and no length, which only the compressed body has. */
function announceEncoding(http: Context, encoding: string): void {
  http.set('Content-Encoding', encoding)
  http.body = Readable.from([])
  http.remove('Content-Length')
}
