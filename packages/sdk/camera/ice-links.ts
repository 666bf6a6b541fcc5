import type { MediaIceServer } from '../media-library.ts'

const LINK = /<(turns?):([^:>?]+)(?::(\d+))?(?:\?transport=(udp|tcp))?>([^<]*)/g

/** Returns the TURN servers of Link headers (RFC 9725, section 4.6). */
export function iceServersOf(header: string | null): MediaIceServer[] {
  return [...(header ?? '').matchAll(LINK)].flatMap(([, scheme, hostname, port, transport, rest]) => {
    const username = /username="([^"]*)"/.exec(rest ?? '')?.[1]
    const password = /credential="([^"]*)"/.exec(rest ?? '')?.[1]
    if (!hostname || !username || !password || !/rel="?ice-server"?/.test(rest ?? '')) return []
    const secure = scheme === 'turns'
    const relayType = secure ? 'TurnTls' : transport === 'tcp' ? 'TurnTcp' : 'TurnUdp'
    return [{ hostname, port: Number(port ?? (secure ? 5349 : 3478)), username, password, relayType }]
  })
}
