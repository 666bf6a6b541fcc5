import { setU16, setU32, u16, u32 } from './bytes.ts'

// Packets of the Real-time Transport Protocol (RTP, RFC 3550, section 5.1).

/** Bytes of a header without contributing sources and extensions. */
export const RTP_HEADER_BYTES = 12
const VERSION_2 = 0x80
const PADDING = 0x20
const EXTENSION = 0x10

/** The fields of a packet that forwarding needs. The payload is `packet.subarray(payloadStart, payloadEnd)`. */
export interface RtpHeader {
  readonly payloadType: number
  /** For video: whether the packet is the last one of its frame. */
  readonly marker: boolean
  readonly sequenceNumber: number
  /** In units of the codec's clock rate. */
  readonly timestamp: number
  readonly ssrc: number
  readonly payloadStart: number
  readonly payloadEnd: number
}

/** Returns whether a packet is RTCP rather than RTP (RFC 5761, section 4). */
export function isRtcp(packet: Uint8Array): boolean {
  const type = packet[1] ?? 0
  return packet.length >= 8 && type >= 192 && type <= 223
}

/** Reads the header of a packet; returns undefined for a packet that is not valid RTP. */
export function readRtp(packet: Uint8Array): RtpHeader | undefined {
  if (packet.length < RTP_HEADER_BYTES) return undefined
  const first = packet[0] as number
  if (first >> 6 !== 2) return undefined
  let payloadStart = RTP_HEADER_BYTES + 4 * (first & 0x0f)
  if (first & EXTENSION) {
    if (packet.length < payloadStart + 4) return undefined
    payloadStart += 4 + 4 * u16(packet, payloadStart + 2)
  }
  const paddingBytes = first & PADDING ? (packet[packet.length - 1] as number) : 0
  const payloadEnd = packet.length - paddingBytes
  if (payloadEnd < payloadStart) return undefined
  const second = packet[1] as number
  return {
    payloadType: second & 0x7f,
    marker: second >= 0x80,
    sequenceNumber: u16(packet, 2),
    timestamp: u32(packet, 4),
    ssrc: u32(packet, 8),
    payloadStart,
    payloadEnd,
  }
}

/**
 * Returns a copy of a packet without contributing sources, extensions and padding: their meaning was negotiated with the sender
 * only. `writeHeader` sets the rest of the header for each receiver.
 */
export function plainPacket(packet: Uint8Array, { payloadStart, payloadEnd }: RtpHeader): Uint8Array {
  const plain = new Uint8Array(RTP_HEADER_BYTES + payloadEnd - payloadStart)
  plain[0] = VERSION_2
  plain.set(packet.subarray(1, RTP_HEADER_BYTES), 1)
  plain.set(packet.subarray(payloadStart, payloadEnd), RTP_HEADER_BYTES)
  return plain
}

/** Replaces the header fields of a plain packet, except its marker. */
export function writeHeader(
  packet: Uint8Array,
  header: Pick<RtpHeader, 'payloadType' | 'sequenceNumber' | 'timestamp' | 'ssrc'>,
): void {
  packet[1] = ((packet[1] as number) & 0x80) | header.payloadType
  setU16(packet, header.sequenceNumber, 2)
  setU32(packet, header.timestamp, 4)
  setU32(packet, header.ssrc, 8)
}

/** Returns the distance between two sequence numbers, -32,768 to 32,767: positive when `to` is newer. */
export const sequenceDistance = (from: number, to: number): number => ((to - from) << 16) >> 16

/** Returns the distance between two timestamps in clock ticks: positive when `to` is newer. */
export const timestampDistance = (from: number, to: number): number => (to - from) | 0
