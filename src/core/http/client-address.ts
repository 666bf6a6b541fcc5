import type { IncomingMessage } from 'node:http'
import { isIPv4, isIPv6 } from 'node:net'
import ipaddr, { type IPv6 } from 'ipaddr.js'
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
 * Returns the network of an address in the notation of proxies, which may include a port; undefined for other text. An
 * IPv4-mapped address belongs to the network of its IPv4 address.
 */
export function networkOf(text: string): string | undefined {
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text
  // Node's checks are strict: ipaddr.js also parses '1.2' and '0x7f.1'.
  if (isIPv4(bare)) return bare
  const [plain = ''] = bare.split('%') // the zone only has a meaning on the local machine
  if (!isIPv6(plain)) return undefined
  const address = ipaddr.process(plain)
  return 'octets' in address ? address.toString() : `${firstGroups(address)}::/64`
}

const firstGroups = ({ parts }: IPv6) =>
  parts
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')
