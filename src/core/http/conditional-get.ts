import { createHash } from 'node:crypto'
import type { Context } from 'koa'
import { z } from 'zod'

/** The parts of a route's declaration that decide whether it is a list. */
interface Route {
  readonly method: string
  readonly path: string
  readonly response: readonly [status: number, body?: z.ZodType]
  readonly media?: readonly string[]
  readonly revalidate?: boolean
}

/**
 * Returns whether a route responds with an ETag. Lists do: an array, or an object whose first field is an array. A
 * route with `revalidate: false` does not.
 */
export function hasEtag({ method, path, response, media, revalidate = true }: Route): boolean {
  const [status, body] = response
  if (!revalidate || method !== 'get' || media || path.endsWith('}') || status !== 200) return false
  const entries = body instanceof z.ZodObject ? Object.values(body.shape)[0] : body
  return entries instanceof z.ZodArray
}

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
