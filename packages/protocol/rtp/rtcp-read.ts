import { u16, u32, u64 } from './bytes.ts'

// Reads RTCP packets (RFC 3550, section 6; feedback: RFC 4585; extended reports: RFC 3611).

/** Sender report: the capture time of one RTP timestamp by the sender's clock. */
export interface SenderReport {
  readonly type: 'sender_report'
  readonly ssrc: number
  /** 64 bits: seconds since 1900 and their fraction. */
  readonly ntp: bigint
  readonly rtpTimestamp: number
}

/** A receiver's statistics about one stream. */
export interface ReceptionReport {
  readonly type: 'reception_report'
  /** The stream that the report is about. */
  readonly ssrc: number
  /** Packets lost since the last report, 0 to 1. */
  readonly fractionLost: number
}

/** A receiver asks for packets again. */
export interface Nack {
  readonly type: 'nack'
  readonly ssrc: number
  readonly sequenceNumbers: readonly number[]
}

/** A receiver needs a keyframe, because it cannot decode the next frame without one. */
export interface KeyframeRequest {
  readonly type: 'keyframe_request'
  readonly ssrc: number
}

/** A receiver's estimate of the bitrate that its path allows (goog-remb). */
export interface BitrateLimit {
  readonly type: 'bitrate_limit'
  readonly bitsPerSecond: number
}

/** A receiver's clock, to be echoed, so that it can measure the round trip (RFC 3611, section 4.4). */
export interface ReferenceTime {
  readonly type: 'reference_time'
  readonly senderSsrc: number
  /** The middle 32 bits of an NTP time. */
  readonly compactNtp: number
}

/** The echo of a reference time, and how long its sender held it (RFC 3611, section 4.5). */
export interface ReferenceTimeEcho {
  readonly type: 'reference_time_echo'
  readonly compactNtp: number
  /** In units of 1/65,536 s. */
  readonly delay: number
}

export type RtcpMessage =
  | SenderReport
  | ReceptionReport
  | Nack
  | KeyframeRequest
  | BitrateLimit
  | ReferenceTime
  | ReferenceTimeEcho

const SENDER_REPORT = 200
const RECEIVER_REPORT = 201
const TRANSPORT_FEEDBACK = 205
const PAYLOAD_FEEDBACK = 206
const EXTENDED_REPORT = 207

/** Most sequence numbers that are read from one NACK. */
const MAX_NACKED = 256

/** Returns the messages of a compound packet. Ignores unknown and truncated ones. */
export function readRtcp(compound: Uint8Array): RtcpMessage[] {
  const messages: RtcpMessage[] = []
  for (let start = 0; start + 8 <= compound.length; ) {
    const end = start + 4 + 4 * u16(compound, start + 2)
    if ((compound[start] as number) >> 6 !== 2 || end > compound.length) break
    readPacket(compound.subarray(start, end), messages)
    start = end
  }
  return messages
}

/** Reads one packet, whose first byte has a count or a format in its lowest five bits. */
function readPacket(packet: Uint8Array, messages: RtcpMessage[]): void {
  const count = (packet[0] as number) & 0x1f
  const type = packet[1]
  if (type === SENDER_REPORT && packet.length >= 28) {
    messages.push({
      type: 'sender_report',
      ssrc: u32(packet, 4),
      ntp: u64(packet, 8),
      rtpTimestamp: u32(packet, 16),
    })
    readReceptionReports(packet, 28, count, messages)
  } else if (type === RECEIVER_REPORT) readReceptionReports(packet, 8, count, messages)
  else if (type === TRANSPORT_FEEDBACK && count === 1 && packet.length >= 16) {
    messages.push({ type: 'nack', ssrc: u32(packet, 8), sequenceNumbers: readNack(packet) })
  } else if (type === PAYLOAD_FEEDBACK && packet.length >= 12) readPayloadFeedback(packet, count, messages)
  else if (type === EXTENDED_REPORT) readExtendedReport(packet, messages)
}

function readReceptionReports(
  packet: Uint8Array,
  start: number,
  count: number,
  messages: RtcpMessage[],
): void {
  for (let at = start; at < start + 24 * count && at + 24 <= packet.length; at += 24) {
    messages.push({
      type: 'reception_report',
      ssrc: u32(packet, at),
      fractionLost: (packet[at + 4] as number) / 256,
    })
  }
}

function readNack(packet: Uint8Array): number[] {
  const numbers: number[] = []
  for (let at = 12; at + 4 <= packet.length && numbers.length < MAX_NACKED; at += 4) {
    const first = u16(packet, at)
    const following = u16(packet, at + 2)
    numbers.push(first)
    for (let bit = 0; bit < 16; bit++) if (following & (1 << bit)) numbers.push((first + bit + 1) & 0xffff)
  }
  return numbers
}

const PICTURE_LOSS = 1
const FULL_INTRA_REQUEST = 4
const APPLICATION = 15
/** The name of the message with a bitrate, as a number. */
export const REMB = 0x52_45_4d_42

function readPayloadFeedback(packet: Uint8Array, format: number, messages: RtcpMessage[]): void {
  if (format === PICTURE_LOSS) {
    messages.push({ type: 'keyframe_request', ssrc: u32(packet, 8) })
  } else if (format === FULL_INTRA_REQUEST && packet.length >= 16) {
    messages.push({ type: 'keyframe_request', ssrc: u32(packet, 12) })
  } else if (format === APPLICATION && packet.length >= 20 && u32(packet, 12) === REMB) {
    const exponent = (packet[17] as number) >> 2
    const mantissa = (((packet[17] as number) & 0x03) << 16) | u16(packet, 18)
    messages.push({ type: 'bitrate_limit', bitsPerSecond: mantissa * 2 ** exponent })
  }
}

const REFERENCE_TIME_BLOCK = 4
const ECHO_BLOCK = 5

function readExtendedReport(packet: Uint8Array, messages: RtcpMessage[]): void {
  const senderSsrc = u32(packet, 4)
  for (let start = 8; start + 4 <= packet.length; ) {
    const end = start + 4 + 4 * u16(packet, start + 2)
    if (end > packet.length) return
    if (packet[start] === REFERENCE_TIME_BLOCK && end - start >= 12) {
      messages.push({ type: 'reference_time', senderSsrc, compactNtp: u32(packet, start + 6) })
    } else if (packet[start] === ECHO_BLOCK && end - start >= 16) {
      const compactNtp = u32(packet, start + 8)
      messages.push({ type: 'reference_time_echo', compactNtp, delay: u32(packet, start + 12) })
    }
    start = end
  }
}
