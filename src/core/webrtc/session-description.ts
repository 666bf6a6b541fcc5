// Session descriptions (SDP, RFC 8866) of the WebRTC connections that clients open to the platform.

/** Where the UDP port of WebRTC connections is reached. */
export interface UdpAddress {
  /** The IP address that clients use, if it is not an address of this machine. */
  readonly publicAddress: string | undefined
  readonly port: number
}

const CANDIDATE = 'a=candidate:'
/** Priority of a host candidate over UDP with the highest local preference (RFC 8445, section 5.1.2). */
const HOST_PRIORITY = 2_130_706_431

/**
 * Removes the candidates of an offer. The platform sends packets only to addresses that packets came from, so that an offer cannot
 * direct it at other machines.
 */
export function withoutCandidates(sdp: string): string {
  return sdp
    .split(/\r\n|\r|\n/) // a part of the library ignores a lone carriage return
    .filter((line) => !line.startsWith(CANDIDATE))
    .join('\r\n')
}

/** Foundation, component, protocol, priority and address of an IPv4 candidate (RFC 8839, section 5.1). */
export const IPV4_CANDIDATE = /^a=candidate:\S+ \S+ \S+ \S+ ([\d.]+) /

/**
 * Returns an answer with the candidates that clients use: the public address, if one is set, or those of this machine with IPv4
 * first, because some clients, such as FFmpeg, use the first one only.
 */
export function answerWithCandidates(sdp: string, { publicAddress, port }: UdpAddress): string {
  if (publicAddress === undefined) return withIpv4First(sdp)
  const candidate = `a=candidate:1 1 UDP ${HOST_PRIORITY} ${publicAddress} ${port} typ host`
  const lines = withoutCandidates(sdp).split('\r\n')
  const end = lines.indexOf('a=end-of-candidates')
  lines.splice(end === -1 ? lines.length - 1 : end, 0, candidate)
  return lines.join('\r\n')
}

function withIpv4First(sdp: string): string {
  const lines = sdp.split('\r\n')
  const start = lines.findIndex((line) => line.startsWith(CANDIDATE))
  if (start === -1) return sdp
  const count = lines.slice(start).findIndex((line) => !line.startsWith(CANDIDATE))
  const candidates = lines.slice(start, start + count)
  const [ipv4, others] = [true, false].map((is) =>
    candidates.filter((line) => IPV4_CANDIDATE.test(line) === is),
  )
  return lines.toSpliced(start, count, ...(ipv4 ?? []), ...(others ?? [])).join('\r\n')
}
