import { randomBytes } from 'node:crypto'

export const OPCODE_TEXT = 1
export const OPCODE_BINARY = 2
export const OPCODE_CLOSE = 8
export const OPCODE_PING = 9
export const OPCODE_PONG = 10
const FIN = 0x80
const MASKED = 0x80
/** An arbitrary key; WebSocket clients must mask, servers must unmask. */
const MASK = Buffer.from([0x37, 0xfa, 0x21, 0x3d])
const SHORT_LENGTH = 125
const MEDIUM_LENGTH = 126

/** Returns the bytes of a client's frame; its payload has at most 65,535 bytes. */
export function maskedFrame(opcode: number, payload: Uint8Array): Buffer {
  const { length } = payload
  if (length > 0xff_ff) throw new RangeError('a frame of the benchmark has at most 65,535 bytes')
  const header = length > SHORT_LENGTH ? 4 : 2
  const frame = Buffer.allocUnsafe(header + MASK.length + length)
  frame[0] = FIN | opcode
  frame[1] = MASKED | (length > SHORT_LENGTH ? MEDIUM_LENGTH : length)
  if (header === 4) frame.writeUInt16BE(length, 2)
  frame.set(MASK, header)
  const start = header + MASK.length
  for (let at = 0; at < length; at++) frame[start + at] = (payload[at] as number) ^ (MASK[at & 3] as number)
  return frame
}

/** Heartbeats are built once, because computation of the generator takes processor time from the measured server. */
const heartbeat = (seq: number) => maskedFrame(OPCODE_TEXT, Buffer.from(`{"type":"heartbeat","seq":${seq}}`))
export const heartbeatFrame = heartbeat(0)
export const pingFrame = maskedFrame(OPCODE_PING, Buffer.alloc(0))

/** Returns several heartbeats as one piece, for one write. The `seq` of each is the number of those after it. */
export const heartbeatsFrame = (count: number): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, index) => heartbeat(count - 1 - index)))

/** Returns the request that opens a WebSocket, with a credential if there is one. */
export function upgradeRequest(path: string, token?: string): string {
  return [
    `GET ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
    'Sec-WebSocket-Version: 13',
    ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
    '\r\n',
  ].join('\r\n')
}

/** Types of a server's frames, identified by a byte instead of parsing. */
export type FrameKind = 'ack' | 'welcome' | 'pong' | 'close' | 'other'

/** `{"type":"` precedes the first letter of the type. */
const TYPE_OFFSET = 9
const H = 'h'.charCodeAt(0)
const W = 'w'.charCodeAt(0)

/**
 * Iterates over the complete frames in `data` from `at` on; returns where the first incomplete one begins.
 * `see` receives the opcode of each frame and the boundaries of its payload.
 */
export function walkFrames(
  data: Buffer,
  at: number,
  see: (opcode: number, data: Buffer, start: number, end: number) => void,
): number {
  let position = at
  while (position + 2 <= data.length) {
    const short = (data[position + 1] as number) & 0x7f
    const header = short === 126 ? 4 : short === 127 ? 10 : 2
    if (position + header > data.length) break
    const length =
      header === 2
        ? short
        : header === 4
          ? data.readUInt16BE(position + 2)
          : Number(data.readBigUInt64BE(position + 2))
    const start = position + header
    if (start + length > data.length) break
    see((data[position] as number) & 0x0f, data, start, start + length)
    position = start + length
  }
  return position
}

/** Returns the type of a frame to a robot. */
export function kindOf(opcode: number, data: Buffer, start: number): FrameKind {
  if (opcode === OPCODE_PONG) return 'pong'
  if (opcode === OPCODE_CLOSE) return 'close'
  if (opcode !== OPCODE_TEXT) return 'other'
  const frameType = data[start + TYPE_OFFSET]
  return frameType === H ? 'ack' : frameType === W ? 'welcome' : 'other'
}

/** `{"type":"heartbeat_ack","seq":` precedes the number of an acknowledgement. */
const SEQ_OFFSET = 30
const ZERO = '0'.charCodeAt(0)

/** Parses the `seq` of an acknowledgement: how many heartbeats of its write are not acknowledged yet. */
export function ackSeq(data: Buffer, start: number): number {
  let value = 0
  for (let at = start + SEQ_OFFSET; (data[at] as number) >= ZERO; at++)
    value = value * 10 + (data[at] as number) - ZERO
  return value
}

const TIME_DIGITS = 13

/** Parses the `t` at the end of an acknowledgement: when the gateway received the beat, in Unix milliseconds. */
export function ackTimeMs(data: Buffer, end: number): number {
  let value = 0
  for (let at = end - 1 - TIME_DIGITS; at < end - 1; at++) value = value * 10 + (data[at] as number) - 48
  return value
}
