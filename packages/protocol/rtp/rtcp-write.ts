import { setU16, setU32, setU64 } from './bytes.ts'
import { REMB } from './rtcp-read.ts'

// Writes RTCP packets (RFC 3550, section 6; feedback: RFC 4585; extended reports: RFC 3611).

/** The report of a receiver about one stream (RFC 3550, section 6.4.1). */
export interface ReportBlock {
  readonly ssrc: number
  /** Packets lost since the last report, 0 to 1. */
  readonly fractionLost: number
  readonly packetsLost: number
  readonly highestSequenceNumber: number
  /** Interarrival jitter in ticks of the codec's clock. */
  readonly jitter: number
  /** The middle 32 bits of the last sender report's NTP time; 0 before the first one. */
  readonly lastSenderReport: number
  /** The time since then in units of 1/65,536 s. */
  readonly delaySinceSenderReport: number
}

/** Returns the beginning of a packet of `bytes` bytes, a multiple of 4. */
function packetOf(type: number, count: number, bytes: number): Uint8Array {
  const packet = new Uint8Array(bytes)
  packet[0] = 0x80 | count
  packet[1] = type
  setU16(packet, bytes / 4 - 1, 2)
  return packet
}

/** Writes a receiver report about one stream, or about none. */
export function receiverReport(senderSsrc: number, block: ReportBlock | undefined): Uint8Array {
  const packet = packetOf(201, block ? 1 : 0, block ? 32 : 8)
  setU32(packet, senderSsrc, 4)
  if (block) {
    setU32(packet, block.ssrc, 8)
    setU32(packet, Math.max(-0x800000, Math.min(0x7fffff, block.packetsLost)), 12) // its highest byte is overwritten
    packet[12] = Math.min(255, Math.floor(block.fractionLost * 256))
    setU32(packet, block.highestSequenceNumber >>> 0, 16)
    setU32(packet, Math.round(block.jitter) >>> 0, 20)
    setU32(packet, block.lastSenderReport >>> 0, 24)
    setU32(packet, block.delaySinceSenderReport >>> 0, 28)
  }
  return packet
}

/** Writes a sender report: the capture time of an RTP timestamp, and how much was sent. */
export function senderReport(report: {
  ssrc: number
  ntp: bigint
  rtpTimestamp: number
  packets: number
  bytes: number
}): Uint8Array {
  const packet = packetOf(200, 0, 28)
  setU32(packet, report.ssrc, 4)
  setU64(packet, report.ntp, 8)
  setU32(packet, report.rtpTimestamp, 16)
  setU32(packet, report.packets >>> 0, 20)
  setU32(packet, report.bytes >>> 0, 24)
  return packet
}

/** Writes the name of a source (SDES with CNAME), which a compound packet has after its report. */
export function sourceDescription(ssrc: number, cname: string): Uint8Array {
  const text = new TextEncoder().encode(cname)
  const packet = packetOf(202, 1, 8 + 4 * Math.ceil((text.length + 3) / 4))
  setU32(packet, ssrc, 4)
  packet[8] = 1 // CNAME
  packet[9] = text.length
  packet.set(text, 10)
  return packet
}

/** Writes a request for a keyframe (picture loss indication). */
export function keyframeRequest(senderSsrc: number, mediaSsrc: number): Uint8Array {
  const packet = packetOf(206, 1, 12)
  setU32(packet, senderSsrc, 4)
  setU32(packet, mediaSsrc, 8)
  return packet
}

/** Writes a request for lost packets. */
export function nack(senderSsrc: number, mediaSsrc: number, sequenceNumbers: readonly number[]): Uint8Array {
  const pairs: { first: number; following: number }[] = []
  for (const number of sequenceNumbers) {
    const last = pairs.at(-1)
    const distance = last ? (number - last.first) & 0xffff : 0
    if (last && distance >= 1 && distance <= 16) last.following |= 1 << (distance - 1)
    else pairs.push({ first: number, following: 0 })
  }
  const packet = packetOf(205, 1, 12 + 4 * pairs.length)
  setU32(packet, senderSsrc, 4)
  setU32(packet, mediaSsrc, 8)
  pairs.forEach(({ first, following }, index) => {
    setU16(packet, first, 12 + 4 * index)
    setU16(packet, following, 14 + 4 * index)
  })
  return packet
}

/** Writes the bitrate that a sender may use (goog-remb). */
export function bitrateLimit(senderSsrc: number, mediaSsrc: number, bitsPerSecond: number): Uint8Array {
  let exponent = 0
  let mantissa = Math.floor(bitsPerSecond)
  while (mantissa > 0x3ffff) {
    mantissa = Math.floor(mantissa / 2)
    exponent++
  }
  const packet = packetOf(206, 15, 24)
  setU32(packet, senderSsrc, 4)
  setU32(packet, REMB, 12)
  packet[16] = 1 // one stream
  packet[17] = (exponent << 2) | (mantissa >> 16)
  setU16(packet, mantissa & 0xffff, 18)
  setU32(packet, mediaSsrc, 20)
  return packet
}

/** Writes the clock of a receiver, which a sender echoes (RFC 3611, section 4.4). */
export function referenceTime(senderSsrc: number, ntp: bigint): Uint8Array {
  const packet = packetOf(207, 0, 20)
  setU32(packet, senderSsrc, 4)
  packet[8] = 4
  setU16(packet, 2, 10)
  setU64(packet, ntp, 12)
  return packet
}

/** Writes the echo of a receiver's clock (RFC 3611, section 4.5). */
export function referenceTimeEcho(
  senderSsrc: number,
  echo: { receiverSsrc: number; compactNtp: number; delay: number },
): Uint8Array {
  const packet = packetOf(207, 0, 24)
  setU32(packet, senderSsrc, 4)
  packet[8] = 5
  setU16(packet, 3, 10)
  setU32(packet, echo.receiverSsrc, 12)
  setU32(packet, echo.compactNtp, 16)
  setU32(packet, echo.delay >>> 0, 20)
  return packet
}
