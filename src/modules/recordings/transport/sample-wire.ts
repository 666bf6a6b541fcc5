import { z } from 'zod'

// The messages between sources of data and a recorder, over one WebSocket for each recorder. Text messages open and close streams;
// binary messages are batches of samples.

/** Path of the WebSocket of a recorder. */
export const RECORDER_PATH = '/streams'
/** Purpose of the signature in the Authorization header. */
export const RECORDER_PURPOSE = 'recorder'
/** Largest batch of a source. */
export const MAX_BATCH_BYTES = 1024 * 1024
/** Largest sample: a keyframe of a camera at the highest bitrate. A larger one is dropped. */
export const MAX_SAMPLE_BYTES = 4 * 1024 * 1024

/** The kinds of samples. The numbers are those on the wire. */
export const sampleKinds = {
  control: 1,
  dropped: 2,
  telemetry: 3,
  limits: 4,
  latency: 5,
  stop: 6,
  video: 7,
  image: 8,
  goal: 9,
  autonomy: 10,
} as const
export type SampleKind = keyof typeof sampleKinds

/** The payload is binary data of the sender, not text. */
export const FLAG_BINARY = 1
/** A frame of video that can be decoded without the ones before. */
export const FLAG_KEYFRAME = 2

/** One sample of a stream. */
export interface StreamSample {
  /** The stream, by the number that its source gave it. */
  readonly stream: number
  readonly kind: number
  readonly flags: number
  /** When the source saw it, in Unix milliseconds with fractions. */
  readonly atMs: number
  /** For control and telemetry, the age in milliseconds; NaN if that is unknown. For video, when the frame was captured; NaN if that is unknown. */
  readonly detail: number
  /** For dropped control frames, the reason, and after a space the policy whose command it is, if any; otherwise empty. */
  readonly note: string
  readonly payload: Uint8Array
}

/** The number of a stream on its connection. A stream that is opened again may have the number that it had before. */
const StreamNumber = z.number().int().min(1).max(0xffff_ffff)

/** Messages of a source. */
export const FromSource = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('open'),
    stream: StreamNumber,
    streamId: z.uuid(),
    sessionId: z.uuid(),
    /** `gateway`, or `camera/<name>`. */
    source: z.string().max(64),
    /** The codec of a camera. */
    codec: z.enum(['VP8', 'H264', 'JPEG']).optional(),
    /** Whether the samples are stored. Without, they only go to live readers. */
    stored: z.boolean(),
    /**
     * The first of the streams that this one continues after its recorder was lost; its own id if it continues none. The samples
     * that were not acknowledged are sent again. The lost recorder may have stored some of them, so that the new one ignores samples
     * up to the end of the last segment of this origin. Streams of other origins are independent: those of a source that has
     * ended, for example, may still be stored.
     */
    originId: z.uuid(),
    atMs: z.number(),
  }),
  /** The stream is complete. The recorder stores the rest, and acknowledges it. */
  z.object({
    type: z.literal('close'),
    stream: StreamNumber,
    atMs: z.number(),
    /** Whether the source will continue the stream at another recorder. */
    continues: z.boolean().optional(),
  }),
  /** The source dropped samples, because no recorder was available or the recorder did not keep up, or has not received their content. */
  z.object({
    type: z.literal('gap'),
    stream: StreamNumber,
    fromMs: z.number(),
    toMs: z.number(),
    reason: z.enum(['overload', 'recorder_lost', 'packets_lost']),
  }),
])
export type FromSource = z.infer<typeof FromSource>

/** Messages of a recorder. */
export const FromRecorder = z.discriminatedUnion('type', [
  /** All samples of the stream up to this time are durable. */
  z.object({ type: z.literal('ack'), stream: StreamNumber, upToMs: z.number() }),
  /**
   * The stream is not recorded, and its samples would be ignored. The source may open it again after the time. Until then it keeps
   * its samples, except for the reason `quota_exceeded`.
   */
  z.object({
    type: z.literal('refused'),
    stream: StreamNumber,
    reason: z.string(),
    retryAfterMs: z.number().int().min(0).nullable(),
  }),
  /** The recorder is about to end: the source opens its streams elsewhere. */
  z.object({ type: z.literal('draining') }),
  /** A camera is to send a keyframe. */
  z.object({ type: z.literal('keyframe'), stream: StreamNumber }),
])
export type FromRecorder = z.infer<typeof FromRecorder>

// kind (1), flags (1), length of the note (2), stream (4), atMs (8), detail (8), length of the payload (4)
const HEADER_BYTES = 28

/** Returns the length of a sample on the wire. */
export const sampleBytes = (noteBytes: number, payloadBytes: number): number =>
  HEADER_BYTES + noteBytes + payloadBytes

/** A sample whose payload may be a text. */
export type WrittenSample = Omit<StreamSample, 'payload'> & { readonly payload: string | Uint8Array }

/** Returns the most bytes that a sample needs on the wire. */
export const maxSampleBytes = (note: string, payload: string | Uint8Array): number =>
  // UTF-8 needs at most three bytes for each UTF-16 unit.
  sampleBytes(note.length, typeof payload === 'string' ? payload.length * 3 : payload.length)

/** Writes a sample at a position of a buffer that has space for it. Returns the position after it. */
export function writeSample(
  buffer: Buffer,
  start: number,
  sample: Omit<WrittenSample, 'stream' | 'atMs'>,
  stream: number,
  atMs: number,
): number {
  const { note, payload } = sample
  let end = start + HEADER_BYTES
  if (note.length > 0) end += buffer.write(note, end, 'latin1')
  const payloadStart = end
  if (typeof payload === 'string') end += buffer.write(payload, end)
  else {
    buffer.set(payload, end)
    end += payload.length
  }
  buffer[start] = sample.kind
  buffer[start + 1] = sample.flags
  buffer.writeUInt16BE(note.length, start + 2)
  buffer.writeUInt32BE(stream, start + 4)
  buffer.writeDoubleBE(atMs, start + 8)
  buffer.writeDoubleBE(sample.detail, start + 16)
  buffer.writeUInt32BE(end - payloadStart, start + 24)
  return end
}

/** Returns the time of the sample at a position. */
export const sampleTime = (buffer: Buffer, start: number): number => buffer.readDoubleBE(start + 8)

/** Returns the flags of the sample at a position. */
export const sampleFlags = (buffer: Buffer, start: number): number => buffer.readUInt8(start + 1)

/** Returns the position after the sample at a position. */
export const sampleEnd = (buffer: Buffer, start: number): number =>
  start + sampleBytes(buffer.readUInt16BE(start + 2), buffer.readUInt32BE(start + 24))

/**
 * Reads the samples of a message.
 * @throws RangeError for a message that is cut off
 */
export function* readSamples(message: Buffer): Generator<StreamSample> {
  let at = 0
  while (at < message.length) {
    const noteBytes = message.readUInt16BE(at + 2)
    const payloadBytes = message.readUInt32BE(at + 24)
    const noteStart = at + HEADER_BYTES
    const end = noteStart + noteBytes + payloadBytes
    if (end > message.length) throw new RangeError('a sample is cut off')
    yield {
      kind: message.readUInt8(at),
      flags: message.readUInt8(at + 1),
      stream: message.readUInt32BE(at + 4),
      atMs: message.readDoubleBE(at + 8),
      detail: message.readDoubleBE(at + 16),
      note: noteBytes === 0 ? '' : message.toString('latin1', noteStart, noteStart + noteBytes),
      payload: message.subarray(noteStart + noteBytes, end),
    }
    at = end
  }
}
