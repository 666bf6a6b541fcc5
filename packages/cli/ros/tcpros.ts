import { MAX_ROS_MESSAGE_BYTES } from './source.ts'

// The wire of ROS 1 (TCPROS): frames of a length of four bytes, little-endian, and as many bytes. The first frame of a connection
// is a header of `key=value` fields.

/** A header contains the text of the message definition. */
const MAX_HEADER_BYTES = 256 * 1024

/** Returns the frames of a stream. Holds at most one incomplete frame. */
export class FrameReader {
  readonly #onFrame: (frame: Buffer) => void
  readonly #length = Buffer.alloc(4)
  #lengthBytes = 0
  #frame: Buffer | undefined
  #frameBytes = 0
  /** Largest frame to accept. */
  maxBytes: number

  constructor(maxBytes: number, onFrame: (frame: Buffer) => void) {
    this.maxBytes = maxBytes
    this.#onFrame = onFrame
  }

  /** Reads a chunk of the stream. @throws Error for a frame that is too large: the stream cannot be read further */
  push(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length) {
      if (!this.#frame) {
        this.#length[this.#lengthBytes++] = chunk[at++] as number
        if (this.#lengthBytes < 4) continue
        this.#lengthBytes = 0
        const bytes = this.#length.readUInt32LE(0)
        if (bytes > this.maxBytes) throw new Error(`a frame of ${bytes} bytes is too large`)
        this.#frame = Buffer.allocUnsafe(bytes)
        this.#frameBytes = 0
      }
      const copied = chunk.copy(this.#frame, this.#frameBytes, at)
      at += copied
      this.#frameBytes += copied
      if (this.#frameBytes < this.#frame.length) continue
      const frame = this.#frame
      this.#frame = undefined
      this.#onFrame(frame)
    }
  }
}

/** Returns a frame with these bytes. */
export function frameOf(payload: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(4 + payload.length)
  frame.writeUInt32LE(payload.length, 0)
  frame.set(payload, 4)
  return frame
}

/** Returns the frame of a header. */
export const headerFrame = (fields: Readonly<Record<string, string>>): Buffer =>
  frameOf(
    Buffer.concat(Object.entries(fields).map(([key, value]) => frameOf(Buffer.from(`${key}=${value}`)))),
  )

/** Reads the fields of a header, without its length. @throws Error for a malformed header */
export function readHeader(header: Buffer): ReadonlyMap<string, string> {
  const fields = new Map<string, string>()
  const reader = new FrameReader(MAX_HEADER_BYTES, (field) => {
    const text = field.toString()
    const equals = text.indexOf('=')
    if (equals < 0) throw new Error('a field of the header has no value')
    fields.set(text.slice(0, equals), text.slice(equals + 1))
  })
  reader.push(header)
  return fields
}

/** Creates the reader of a connection: `onHeader` gets the first frame, `onMessage` all others. */
export function createConnectionReader(
  onHeader: (header: ReadonlyMap<string, string>) => void,
  onMessage: (message: Buffer) => void,
): FrameReader {
  let hasHeader = false
  const reader = new FrameReader(MAX_HEADER_BYTES, (frame) => {
    if (hasHeader) return onMessage(frame)
    hasHeader = true
    reader.maxBytes = MAX_ROS_MESSAGE_BYTES
    onHeader(readHeader(frame))
  })
  return reader
}
