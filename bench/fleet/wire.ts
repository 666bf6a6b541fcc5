import { randomBytes } from 'node:crypto'

const TEXT = 0x81
const PING = 0x89
const MASKED = 0x80
/** Any key does; WebSocket clients must mask, servers must unmask. */
const MASK = Buffer.from([0x37, 0xfa, 0x21, 0x3d])

/** Bytes a client sends for a frame of under 126 bytes. */
function maskedFrame(opcode: number, payload: string): Buffer {
  const bytes = Buffer.from(payload)
  if (bytes.length > 125) throw new RangeError('a frame of the benchmark has at most 125 bytes')
  const masked = bytes.map((byte, index) => byte ^ (MASK[index % 4] as number))
  return Buffer.concat([Buffer.from([opcode, MASKED | bytes.length]), MASK, masked])
}

/** Heartbeats are built once: what the generator computes per beat would be taken from the server it measures. */
export const heartbeatFrame = maskedFrame(TEXT, '{"type":"heartbeat","seq":1}')
export const pingFrame = maskedFrame(PING, '')

/** Several heartbeats in one piece, as one write sends them. */
export const heartbeatsFrame = (count: number): Buffer =>
  Buffer.concat(Array.from({ length: count }, () => heartbeatFrame))

/** The request that opens a robot's connection. */
export function upgradeRequest(robot: { id: string; token: string }): string {
  return [
    `GET /robots/${robot.id}/control HTTP/1.1`,
    'Host: 127.0.0.1',
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
    'Sec-WebSocket-Version: 13',
    `Authorization: Bearer ${robot.token}`,
    '\r\n',
  ].join('\r\n')
}

/** What the generator tells apart in a server's frames, by a byte rather than by parsing. */
export type FrameKind = 'ack' | 'welcome' | 'pong' | 'close' | 'other'

const OPCODE_TEXT = 1
const OPCODE_CLOSE = 8
const OPCODE_PONG = 10
/** `{"type":"` comes before the first letter of the type. */
const TYPE_OFFSET = 9
const H = 'h'.charCodeAt(0)
const W = 'w'.charCodeAt(0)

/**
 * Walks over the whole frames in `data` from `at` on, and returns where the first incomplete one begins.
 * `see` gets the kind of each frame and where its payload ends.
 */
export function walkFrames(
  data: Buffer,
  at: number,
  see: (kind: FrameKind, data: Buffer, end: number) => void,
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
    see(kindOf((data[position] as number) & 0x0f, data[start + TYPE_OFFSET]), data, start + length)
    position = start + length
  }
  return position
}

function kindOf(opcode: number, letter: number | undefined): FrameKind {
  if (opcode === OPCODE_PONG) return 'pong'
  if (opcode === OPCODE_CLOSE) return 'close'
  if (opcode !== OPCODE_TEXT) return 'other'
  return letter === H ? 'ack' : letter === W ? 'welcome' : 'other'
}

const TIME_DIGITS = 13

/** The `t` an acknowledgement ends with: when the gateway received the beat, Unix milliseconds. */
export function ackTimeMs(data: Buffer, end: number): number {
  let value = 0
  for (let at = end - 1 - TIME_DIGITS; at < end - 1; at++) value = value * 10 + (data[at] as number) - 48
  return value
}
