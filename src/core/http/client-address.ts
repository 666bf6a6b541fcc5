import type { IncomingMessage } from 'node:http'
import { isIPv4, isIPv6 } from 'node:net'
import type { Context } from 'koa'

/**
 * Returns the network of a caller, by which rate limits identify callers: an IPv4 address, or the /64 prefix of an
 * IPv6 address, because a host with one address of a /64 can use all of them. Behind proxies, it is the address that
 * the outermost trusted proxy received the request from.
 */
export function clientNetwork(http: Context): string {
  return networkOrPeer(http.ip, http.req)
}

/** Returns the network of a caller for a request that Koa does not handle, such as a WebSocket handshake. */
export function requestNetwork(request: IncomingMessage, trustedProxies: number): string {
  const forwarded = String(request.headers['x-forwarded-for'] ?? '')
  if (trustedProxies === 0 || forwarded === '') return networkOrPeer('', request)
  // `trim` instead of a pattern that skips blanks: such a pattern needs quadratic time on a header full of blanks.
  const [address = ''] = forwarded.split(',').slice(-trustedProxies)
  return networkOrPeer(address.trim(), request)
}

const networkOrPeer = (address: string, { socket }: IncomingMessage): string =>
  networkOf(address) ?? networkOf(socket.remoteAddress ?? '') ?? 'unknown'

/**
 * Returns the network of an address in the notation of proxies, which may include a port; undefined for other text.
 */
export function networkOf(address: string): string | undefined {
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(address)?.[1] ?? /^([\d.]+):\d+$/.exec(address)?.[1] ?? address
  const mapped = /^::ffff:([\d.]+)$/i.exec(bare)?.[1] ?? bare
  if (isIPv4(mapped)) return mapped
  const [plain = ''] = bare.split('%') // the zone only has a meaning on the local machine
  return isIPv6(plain) ? prefix64(plain) : undefined
}

function prefix64(address: string): string {
  const [head = '', tail] = address.split('::')
  const groups = head === '' ? [] : head.split(':')
  const rest = tail === undefined || tail === '' ? [] : tail.split(':')
  // An IPv4 part at the end counts as two groups. It is not part of the prefix.
  const restLength = rest.length + (rest.at(-1)?.includes('.') ? 1 : 0)
  if (tail !== undefined) groups.push(...Array<string>(8 - groups.length - restLength).fill('0'), ...rest)
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}
