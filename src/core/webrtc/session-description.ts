// Session descriptions (SDP, RFC 8866) of the WebRTC connections that clients open to the platform.

/** Where the UDP port of WebRTC connections is reached. */
export interface UdpAddress {
  /** The IP address that clients use, if it is not an address of this machine. */
  readonly publicAddress: string | undefined
  readonly port: number
}

/** Priority of a host candidate over UDP with the highest local preference (RFC 8445, section 5.1.2). */
const HOST_PRIORITY = 2_130_706_431

/**
 * Removes the candidates of an offer. The platform sends packets only to addresses that packets came from, so that an offer cannot
 * direct it at other machines.
 */
export function withoutCandidates(sdp: string): string {
  return sdp
    .split(/\r\n|\r|\n/) // a part of the library ignores a lone carriage return
    .filter((line) => !line.startsWith('a=candidate:'))
    .join('\r\n')
}

/** Replaces the candidates of an answer by the public address, if one is set. */
export function answerWithPublicAddress(sdp: string, { publicAddress, port }: UdpAddress): string {
  if (publicAddress === undefined) return sdp
  const candidate = `a=candidate:1 1 UDP ${HOST_PRIORITY} ${publicAddress} ${port} typ host`
  const lines = withoutCandidates(sdp).split('\r\n')
  const end = lines.indexOf('a=end-of-candidates')
  lines.splice(end === -1 ? lines.length - 1 : end, 0, candidate)
  return lines.join('\r\n')
}
