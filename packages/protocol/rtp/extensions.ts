import { u16 } from './bytes.ts'
import { RTP_HEADER_BYTES } from './rtp.ts'

// Header extensions of RTP packets (RFC 8285).

const EXTENSION = 0x10
const ONE_BYTE_HEADERS = 0xbede
/** The lower four bits belong to the application. */
const TWO_BYTE_HEADERS = 0x1000
/** The end of one-byte headers. */
const STOP = 15

/** Returns the value of a header extension of a valid packet by its number; undefined if the packet does not have it. */
export function readExtension(packet: Uint8Array, wanted: number): Uint8Array | undefined {
  const first = packet[0] as number
  if ((first & EXTENSION) === 0) return undefined
  const start = RTP_HEADER_BYTES + 4 * (first & 0x0f)
  const profile = u16(packet, start)
  const end = Math.min(packet.length, start + 4 + 4 * u16(packet, start + 2))
  const isOneByte = profile === ONE_BYTE_HEADERS
  if (!isOneByte && (profile & 0xfff0) !== TWO_BYTE_HEADERS) return undefined
  for (let at = start + 4; at < end; ) {
    const byte = packet[at] as number
    if (byte === 0) {
      at++ // padding
      continue
    }
    const id = isOneByte ? byte >> 4 : byte
    if (isOneByte && id === STOP) return undefined
    const length = isOneByte ? (byte & 0x0f) + 1 : (packet[at + 1] ?? 0)
    const value = at + (isOneByte ? 1 : 2)
    if (value + length > end) return undefined
    if (id === wanted) return packet.subarray(value, value + length)
    at = value + length
  }
  return undefined
}
