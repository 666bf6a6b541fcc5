/** The codecs with which a robot publishes a camera. */
export type CameraCodec = 'VP8' | 'H264'

/** Bytes of payload in a packet: an Ethernet frame less the headers of IP, UDP, SRTP and a TURN server. */
export const MAX_PAYLOAD_BYTES = 1_160

/** Returns the payloads of the RTP packets of one frame. */
export function packetize(codec: CameraCodec, frame: Uint8Array): Uint8Array[] {
  return codec === 'VP8' ? packetizeVp8(frame) : splitNalUnits(frame).flatMap(packetizeNalUnit)
}

/** Prepends the payload descriptor: one byte, which marks the beginning of the frame (RFC 7741, section 4.2). */
function packetizeVp8(frame: Uint8Array): Uint8Array[] {
  const payloads: Uint8Array[] = []
  for (let start = 0; start < frame.length; start += MAX_PAYLOAD_BYTES - 1) {
    const part = frame.subarray(start, start + MAX_PAYLOAD_BYTES - 1)
    const payload = new Uint8Array(part.length + 1)
    payload[0] = start === 0 ? 0x10 : 0x00
    payload.set(part, 1)
    payloads.push(payload)
  }
  return payloads
}

/** Splits an access unit in the byte-stream format (ITU-T H.264, annex B) into its NAL units. */
export function splitNalUnits(frame: Uint8Array): Uint8Array[] {
  const units: Uint8Array[] = []
  let start = -1
  for (let at = 0; at + 2 < frame.length; at++) {
    if (frame[at] !== 0 || frame[at + 1] !== 0 || frame[at + 2] !== 1) continue
    if (start >= 0) units.push(frame.subarray(start, endBefore(frame, start, at)))
    start = at + 3
    at += 2
  }
  if (start >= 0) units.push(frame.subarray(start))
  return units.filter(({ length }) => length > 0)
}

/** Returns the end of a unit. The next start code may have a fourth byte, which belongs to no unit. */
const endBefore = (frame: Uint8Array, start: number, code: number) =>
  code > start && frame[code - 1] === 0 ? code - 1 : code

const FRAGMENT = 28
const FRAGMENT_HEADER_BYTES = 2

/** Returns a NAL unit as one packet, or in fragments (FU-A, RFC 6184, section 5.8). */
function packetizeNalUnit(unit: Uint8Array): Uint8Array[] {
  if (unit.length <= MAX_PAYLOAD_BYTES) return [unit]
  const first = unit[0] as number
  const payloads: Uint8Array[] = []
  const size = MAX_PAYLOAD_BYTES - FRAGMENT_HEADER_BYTES
  for (let start = 1; start < unit.length; start += size) {
    const part = unit.subarray(start, start + size)
    const payload = new Uint8Array(part.length + FRAGMENT_HEADER_BYTES)
    payload[0] = (first & 0xe0) | FRAGMENT
    const isFirst = start === 1
    const isLast = start + size >= unit.length
    payload[1] = (isFirst ? 0x80 : 0) | (isLast ? 0x40 : 0) | (first & 0x1f)
    payload.set(part, FRAGMENT_HEADER_BYTES)
    payloads.push(payload)
  }
  return payloads
}

const IDR_SLICE = 5

/** Returns whether a frame can be decoded without the ones before. */
export function isKeyframe(codec: CameraCodec, frame: Uint8Array): boolean {
  if (codec === 'VP8') return frame.length > 0 && ((frame[0] as number) & 0x01) === 0
  return splitNalUnits(frame).some((unit) => ((unit[0] as number) & 0x1f) === IDR_SLICE)
}
