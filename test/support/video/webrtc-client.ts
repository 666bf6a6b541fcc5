import { rtp } from '@wheelhouse/protocol'
import type { PeerConnection } from 'node-datachannel'

// The parts of WebRTC clients that test publishers, test viewers and the benchmark share.

/** Sets the local description. Settles with it and all its candidates. */
export function localDescription(connection: PeerConnection, type: 'offer' | 'answer'): Promise<string> {
  return new Promise((resolve) => {
    connection.onGatheringStateChange((state) => {
      if (state === 'complete') resolve(connection.localDescription()?.sdp ?? '')
    })
    connection.setLocalDescription(type)
  })
}

/** Sends an offer to a WHIP or WHEP endpoint. */
export const postOffer = (url: string, token: string, sdp: string): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/sdp' },
    body: sdp,
  })

/** Sends an offer and connects with the answer. Returns the answer. @throws Error if the offer is refused */
export async function connectTo(
  connection: PeerConnection,
  { url, token, sdp }: { url: string; token: string; sdp: string },
): Promise<string> {
  const response = await postOffer(url, token, sdp)
  const answer = await response.text()
  if (response.status !== 201) throw new Error(answer)
  connection.setRemoteDescription(answer, 'answer')
  return answer
}

interface PacketFields {
  readonly payloadType: number
  readonly sequenceNumber: number
  readonly timestamp: number
  readonly ssrc: number
  /** Whether it is the last packet of its frame. */
  readonly marker: boolean
}

/** Returns a packet of RTP. `extension` is a block of header extensions (RFC 8285), if any. */
export function rtpPacket(
  { marker, ...fields }: PacketFields,
  payload: Buffer,
  extension: Buffer = Buffer.alloc(0),
): Buffer {
  const header = Buffer.alloc(rtp.RTP_HEADER_BYTES)
  header[0] = extension.length > 0 ? 0x90 : 0x80
  header[1] = marker ? 0x80 : 0
  rtp.writeHeader(header, fields)
  return Buffer.concat([header, extension, payload])
}
