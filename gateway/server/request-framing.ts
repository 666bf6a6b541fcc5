import type { HttpRequest } from 'uWebSockets.js'

/**
 * Returns why a proxy might parse the request differently than uWebSockets does, which allows a second request to hide in
 * the body of the first one (request smuggling); undefined for an unambiguous request. uWebSockets uses the first of
 * several Content-Length headers, and the last word of a Transfer-Encoding.
 */
export function ambiguity(req: HttpRequest): string | undefined {
  const lengths: string[] = []
  const encodings: string[] = []
  let hosts = 0
  req.forEach((name, value) => {
    if (name === 'content-length') lengths.push(value)
    else if (name === 'transfer-encoding') encodings.push(value)
    else if (name === 'host') hosts++
  })
  if (hosts > 1) return 'A request must have one Host header'
  if (lengths.length > 1) return 'A request must have at most one Content-Length header'
  if (lengths.length > 0 && encodings.length > 0)
    return 'A request must not have both Content-Length and Transfer-Encoding'
  if (lengths.length > 0 && !/^\d+$/.test(lengths[0] as string)) return 'Content-Length must be a number'
  if (encodings.length > 1 || (encodings.length > 0 && !/^chunked$/i.test(encodings[0] as string))) {
    return 'Transfer-Encoding must be `chunked`, and occur once'
  }
  return undefined
}

/** Returns why the framing of an upgrade is refused: the bytes of a body would be parsed as WebSocket frames. */
export function upgradeAmbiguity(req: HttpRequest): string | undefined {
  const problem = ambiguity(req)
  if (problem !== undefined) return problem
  const length = req.getHeader('content-length')
  const hasBody = (length !== '' && !/^0+$/.test(length)) || req.getHeader('transfer-encoding') !== ''
  return hasBody ? 'An upgrade must not have a body' : undefined
}
