import type { RecordingSource } from './recording-source.ts'

/** A message of a camera: `foxglove.CompressedVideo` or `foxglove.CompressedImage`. */
export interface CompressedFrame {
  /** `vp8` and `h264` for video, `jpeg` for pictures. */
  readonly format: string
  readonly data: Uint8Array
}

export type FrameSchema = 'foxglove.CompressedVideo' | 'foxglove.CompressedImage'

/** The numbers of the fields, by schema. The others, the time stamp and the name of the camera, are not needed. */
const FIELDS: Readonly<Record<FrameSchema, { readonly data: number; readonly format: number }>> = {
  'foxglove.CompressedVideo': { data: 3, format: 4 },
  'foxglove.CompressedImage': { data: 2, format: 3 },
}
const [VARINT, FIXED64, LENGTH, FIXED32] = [0, 1, 2, 5]
const MAX_VARINT_BYTES = 10

const text = new TextDecoder()

export const isFrameSchema = (name: string | undefined): name is FrameSchema =>
  name !== undefined && Object.hasOwn(FIELDS, name)

/**
 * Reads a message in the wire format of Protocol Buffers. A library for two fields would be larger than the player.
 * @throws RangeError for a message that is cut off or no such message
 */
export function decodeFrame(schema: FrameSchema, message: Uint8Array): CompressedFrame {
  const fields = FIELDS[schema]
  let format = ''
  let data = new Uint8Array()
  for (const { field, bytes } of lengthFields(message)) {
    if (field === fields.data) data = bytes
    else if (field === fields.format) format = text.decode(bytes)
  }
  return { format, data }
}

function* lengthFields(message: Uint8Array): Generator<{ field: number; bytes: Uint8Array<ArrayBuffer> }> {
  let at = 0
  const skip = (bytes: number) => {
    at += bytes
    if (at > message.length) throw new RangeError('a field is cut off')
  }
  const readVarint = () => {
    let value = 0
    for (let index = 0; index < MAX_VARINT_BYTES; index++) {
      const byte = message[at++]
      if (byte === undefined) throw new RangeError('a number is cut off')
      value += (byte & 0x7f) * 2 ** (7 * index)
      if (byte < 0x80) return value
    }
    throw new RangeError('a number is too long')
  }
  while (at < message.length) {
    const tag = readVarint()
    const [field, type] = [Math.floor(tag / 8), tag % 8]
    if (type === VARINT) readVarint()
    else if (type === FIXED64) skip(8)
    else if (type === FIXED32) skip(4)
    else if (type === LENGTH) {
      const length = readVarint()
      const start = at
      skip(length)
      yield { field, bytes: message.subarray(start, at) as Uint8Array<ArrayBuffer> }
    } else throw new RangeError('a field has an unknown wire type')
  }
}

const NAL_TYPE = 0x1f
const [NAL_IDR, NAL_SPS] = [5, 7]

/** Returns whether a frame can be decoded without the ones before. Pictures always can. */
export function isKeyframe(format: string, data: Uint8Array): boolean {
  if (format === 'vp8') return data.length > 0 && ((data[0] ?? 1) & 1) === 0
  if (format === 'h264') return nalUnits(data).some(({ type }) => type === NAL_IDR)
  return true
}

/** Returns the codec of a keyframe as WebCodecs names it; undefined for a picture, and for a keyframe without parameters. */
export function codecOf(format: string, keyframe: Uint8Array): string | undefined {
  if (format === 'vp8') return 'vp8'
  if (format !== 'h264') return undefined
  const sps = nalUnits(keyframe).find(({ type }) => type === NAL_SPS)
  if (!sps) return undefined
  // Profile, constraints and level follow the type of the unit.
  const profile = keyframe.subarray(sps.start + 1, sps.start + 4)
  return profile.length === 3 ? `avc1.${hex(profile)}` : undefined
}

const hex = (bytes: Uint8Array) => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')

/** Returns the units of an Annex B stream, up to its first slice: the units before it determine the type of the frame. */
function nalUnits(data: Uint8Array): { type: number; start: number }[] {
  const units: { type: number; start: number }[] = []
  for (let at = 0; at + 3 < data.length; at++) {
    if (data[at] !== 0 || data[at + 1] !== 0 || data[at + 2] !== 1) continue
    const type = (data[at + 3] ?? 0) & NAL_TYPE
    units.push({ type, start: at + 3 })
    if (type >= 1 && type <= NAL_IDR) break
    at += 3
  }
  return units
}

/** Known keyframes of a camera: a list of numbers, so that much is possible. */
const MAX_KNOWN = 20_000
/** A keyframe that is known is used when the camera sends one at least this often. */
const USABLE_MS = 2_500

/** Finds the frames of a camera that a decoder can begin with, and remembers them. */
export function createKeyframeFinder(source: RecordingSource, topic: string, schema: FrameSchema) {
  const known: number[] = []
  const isStart = (data: Uint8Array) => {
    const frame = decodeFrame(schema, data)
    return isKeyframe(frame.format, frame.data)
  }

  return {
    add(atMs: number): void {
      const index = known.findLastIndex((ms) => ms <= atMs)
      if (known[index] === atMs) return
      known.splice(index + 1, 0, atMs)
      if (known.length > MAX_KNOWN) known.shift()
    },

    /** Returns the time of the last keyframe up to a time; undefined without one. */
    async before(atMs: number, signal: AbortSignal): Promise<number | undefined> {
      const near = known.findLast((ms) => ms <= atMs)
      if (near !== undefined && atMs - near < USABLE_MS) return near
      const query = { topics: [topic], fromMs: 0, toMs: atMs, reverse: true }
      for await (const message of source.messages(query)) {
        if (signal.aborted) return undefined
        if (message.atMs === near || isStart(message.data)) {
          this.add(message.atMs)
          return message.atMs
        }
      }
      return undefined
    },
  }
}
