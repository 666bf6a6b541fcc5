import { createHash } from 'node:crypto'
import type { Context } from 'koa'

/**
 * Sends a JSON value with an ETag, or 304 when the client has the same value. Only the client may store the response. It
 * must ask again before each use, so a user never sees what they may no longer see, or what another user saw.
 */
export function sendRevalidated(http: Context, value: unknown): void {
  const text = JSON.stringify(value)
  http.set('Cache-Control', 'private, no-cache')
  http.vary('Authorization')
  http.vary('Cookie')
  http.etag = weakEtag(text)
  if (http.fresh) {
    http.status = 304
    return
  }
  http.type = 'json'
  http.body = text
}

/** Returns an ETag that is the same for all encodings of the content. */
export const weakEtag = (content: string | Buffer): string =>
  `W/"${createHash('sha256').update(content).digest('base64url')}"`
