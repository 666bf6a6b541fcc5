import { BINARY_CONTROL, BINARY_HEADER_BYTES } from '@wheelhouse/protocol'

/** Forms of control frames: 16 bytes of header and 64 of payload, or JSON around 64 bytes of JSON. */
export const forms = ['binary', 'JSON'] as const
export type Form = (typeof forms)[number]

const PAYLOAD_BYTES = 64
/** Two vectors, the usual command of a robot. Every JSON library writes these numbers the same way. */
const DATA = '{"linear":[0.1251,0.2513,0.3779],"angular":[0.5031,0.6297,0.75]}'
const payload = Buffer.from(DATA)
if (payload.length !== PAYLOAD_BYTES) throw new Error(`The payload has ${payload.length} bytes.`)

const binary = Buffer.alloc(BINARY_HEADER_BYTES + PAYLOAD_BYTES)
binary[0] = BINARY_CONTROL
binary.set(payload, BINARY_HEADER_BYTES)

/** Returns a control frame. The bytes are valid until the next call. `t` is this process's clock, as the protocol requires. */
export function controlFrame(form: Form, seq: number, nowMs: number): Buffer {
  const t = performance.timeOrigin + nowMs
  if (form === 'JSON')
    return Buffer.from(`{"type":"control","seq":${seq},"t":${t.toFixed(3)},"data":${DATA}}`)
  binary.writeUInt32BE(seq, 4)
  binary.writeDoubleBE(t, 8)
  return binary
}

export const ackFrame = (seq: number): Buffer => Buffer.from(`{"type":"ack","seq":${seq}}`)

/** Types that the generator identifies without parsing; `other` is JSON that is rare enough to be parsed. */
export type MessageKind = 'control' | 'ack' | 'other'

const BRACE = '{'.charCodeAt(0)
/** `{"type":"` precedes the first letter of the type. */
const TYPE_OFFSET = 9
const A = 'a'.charCodeAt(0)
const C = 'c'.charCodeAt(0)
const O = 'o'.charCodeAt(0)

export function kindOf(data: Buffer, start: number): MessageKind {
  const first = data[start]
  if (first === BINARY_CONTROL) return 'control'
  if (first !== BRACE) return 'other'
  const letter = data[start + TYPE_OFFSET]
  if (letter === A) return 'ack'
  // Invitations to a data channel begin with the same letter.
  return letter === C && data[start + TYPE_OFFSET + 1] === O ? 'control' : 'other'
}

const SEQ_KEY = Buffer.from('"seq":')
const ZERO = '0'.charCodeAt(0)

/** Returns the `seq` of a control frame or an ack, at any position in the JSON; NaN without one. */
export function seqOf(data: Buffer, start: number, end: number): number {
  if (data[start] === BINARY_CONTROL) return data.readUInt32BE(start + 4)
  const key = data.indexOf(SEQ_KEY, start)
  if (key < 0 || key >= end) return Number.NaN
  let value = 0
  for (let at = key + SEQ_KEY.length; at < end; at++) {
    const digit = (data[at] as number) - ZERO
    if (digit < 0 || digit > 9) break
    value = value * 10 + digit
  }
  return value
}
