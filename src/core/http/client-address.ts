import type { IncomingMessage } from 'node:http'
import { isIPv4, isIPv6 } from 'node:net'
import type { Context } from 'koa'

/**
 * The network a request comes from, as far as limits can tell callers apart: an IPv4 address, or the /64 of an
 * IPv6 one, since whoever has one address there has all of them. Behind proxies it is what the outermost trusted
 * one saw.
 */
export function clientNetwork(http: Context): string {
  return networkOrPeer(http.ip, http.req)
}

/** The same for a request that Koa does not handle, such as the handshake of a WebSocket. */
export function requestNetwork(request: IncomingMessage, trustedProxies: number): string {
  const forwarded = String(request.headers['x-forwarded-for'] ?? '')
  if (trustedProxies === 0 || forwarded === '') return networkOrPeer('', request)
  // No pattern for the blanks: one that skips them takes quadratic time on a header full of them.
  const [address = ''] = forwarded.split(',').slice(-trustedProxies)
  return networkOrPeer(address.trim(), request)
}

const networkOrPeer = (address: string, { socket }: IncomingMessage): string =>
  networkOf(address) ?? networkOf(socket.remoteAddress ?? '') ?? 'unknown'

/** The network of an address as proxies write it, a port included; undefined for anything else. */
export function networkOf(address: string): string | undefined {
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(address)?.[1] ?? /^([\d.]+):\d+$/.exec(address)?.[1] ?? address
  const mapped = /^::ffff:([\d.]+)$/i.exec(bare)?.[1] ?? bare
  if (isIPv4(mapped)) return mapped
  const [plain = ''] = bare.split('%') // a zone is this machine's own business
  return isIPv6(plain) ? prefix64(plain) : undefined
}

function prefix64(address: string): string {
  const [head = '', tail] = address.split('::')
  const groups = head === '' ? [] : head.split(':')
  const rest = tail === undefined || tail === '' ? [] : tail.split(':')
  // An IPv4 part at the end stands for two groups; it lies beyond the prefix anyway.
  const restLength = rest.length + (rest.at(-1)?.includes('.') ? 1 : 0)
  if (tail !== undefined) groups.push(...Array<string>(8 - groups.length - restLength).fill('0'), ...rest)
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}
