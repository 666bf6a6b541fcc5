import type { HttpRequest } from 'uWebSockets.js'

/**
 * Returns why a proxy in front might read the request differently than uWebSockets does, which lets a second request
 * hide in the body of the first (request smuggling); undefined for a request that reads one way only. uWebSockets
 * takes the first of several Content-Length headers, and the last word of any Transfer-Encoding.
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
  if (hosts > 1) return 'A request has one Host header'
  if (lengths.length > 1) return 'A request has at most one Content-Length header'
  if (lengths.length > 0 && encodings.length > 0)
    return 'Content-Length and Transfer-Encoding exclude one another'
  if (lengths.length > 0 && !/^\d+$/.test(lengths[0] as string)) return 'Content-Length must be a number'
  if (encodings.length > 1 || (encodings.length > 0 && !/^chunked$/i.test(encodings[0] as string))) {
    return 'Transfer-Encoding must be chunked, once'
  }
  return undefined
}

/** Returns why an upgrade is refused for its framing: the bytes of a body would be read as frames. */
export function upgradeAmbiguity(req: HttpRequest): string | undefined {
  const problem = ambiguity(req)
  if (problem !== undefined) return problem
  const length = req.getHeader('content-length')
  const hasBody = (length !== '' && !/^0+$/.test(length)) || req.getHeader('transfer-encoding') !== ''
  return hasBody ? 'An upgrade has no body' : undefined
}
