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

/** Yields the fields that have a length, and skips the others. */
function* lengthFields(message: Uint8Array): Generator<{ field: number; bytes: Uint8Array<ArrayBuffer> }> {
  const reader = { message, at: 0 }
  while (reader.at < message.length) {
    const tag = readVarint(reader)
    const [field, type] = [Math.floor(tag / 8), tag % 8]
    if (type === VARINT) readVarint(reader)
    else if (type === FIXED64) skip(reader, 8)
    else if (type === FIXED32) skip(reader, 4)
    else if (type === LENGTH) {
      const length = readVarint(reader)
      const start = reader.at
      skip(reader, length)
      yield { field, bytes: message.subarray(start, reader.at) as Uint8Array<ArrayBuffer> }
    } else throw new RangeError('a field has an unknown wire type')
  }
}

interface Reader {
  readonly message: Uint8Array
  at: number
}

function skip(reader: Reader, bytes: number): void {
  reader.at += bytes
  if (reader.at > reader.message.length) throw new RangeError('a field is cut off')
}

function readVarint(reader: Reader): number {
  let value = 0
  for (let index = 0; index < MAX_VARINT_BYTES; index++) {
    const byte = reader.message[reader.at++]
    if (byte === undefined) throw new RangeError('a number is cut off')
    value += (byte & 0x7f) * 2 ** (7 * index)
    if (byte < 0x80) return value
  }
  throw new RangeError('a number is too long')
}
