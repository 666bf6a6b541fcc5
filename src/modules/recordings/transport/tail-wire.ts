import { recordingTopics } from '@wheelhouse/protocol'
import { z } from 'zod'
import type { RecordedMessage } from '../mcap/mcap-writer.ts'

// The messages between a recorder and a live reader of a session, over one WebSocket: each binary message of the recorder is one
// message of MCAP. A reader sends text messages.

/** Path of the WebSocket of live readers. The query is `session=<id>`. */
export const TAIL_PATH = '/tail'

/** Topics whose last message holds until the next one. A new reader gets it at once. */
export const STATE_TOPICS: ReadonlySet<string> = new Set([
  recordingTopics.stop,
  recordingTopics.limits,
  recordingTopics.autonomy,
])

/** The kind of data of a message: JSON, or a frame of a camera (`foxglove.CompressedVideo`, `foxglove.CompressedImage`). */
export type TailKind = 'json' | 'video' | 'image'

/** A message of a session, in the form of its recording. */
export interface TailMessage extends RecordedMessage {
  readonly kind: TailKind
  /** Whether a frame of video can be decoded without the ones before; false for other kinds. */
  readonly isKeyframe: boolean
}

/** Messages of a reader. */
export const FromReader = z.discriminatedUnion('type', [
  /** A reader of a camera needs a keyframe. The recorder asks the camera for one, not more often than it likes. */
  z.object({ type: z.literal('keyframe'), topic: z.string().max(128) }),
])
export type FromReader = z.infer<typeof FromReader>

const kinds: readonly TailKind[] = ['json', 'video', 'image']
const FLAG_KEYFRAME = 1
// kind (1), flags (1), length of the topic (2), log time (8), publish time (8)
const HEADER_BYTES = 20
/** Bytes of a message apart from its data. */
export const MAX_TAIL_HEADER_BYTES = HEADER_BYTES + 1024

/** Returns a message as bytes. */
export function encodeTailMessage(message: TailMessage): Buffer {
  const topic = Buffer.from(message.topic)
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + topic.length + message.data.length)
  bytes[0] = kinds.indexOf(message.kind)
  bytes[1] = message.isKeyframe ? FLAG_KEYFRAME : 0
  bytes.writeUInt16BE(topic.length, 2)
  bytes.writeBigUInt64BE(message.logTimeNs, 4)
  bytes.writeBigUInt64BE(message.publishTimeNs, 12)
  bytes.set(topic, HEADER_BYTES)
  bytes.set(message.data, HEADER_BYTES + topic.length)
  return bytes
}

/**
 * Reads a message. Its data are a view of the bytes.
 * @throws RangeError for bytes that are no message
 */
export function decodeTailMessage(bytes: Buffer): TailMessage {
  const kind = kinds[bytes.readUInt8(0)]
  const dataStart = HEADER_BYTES + bytes.readUInt16BE(2)
  if (kind === undefined || dataStart > bytes.length) throw new RangeError('the message is malformed')
  return {
    kind,
    isKeyframe: (bytes.readUInt8(1) & FLAG_KEYFRAME) !== 0,
    topic: bytes.toString('utf8', HEADER_BYTES, dataStart),
    logTimeNs: bytes.readBigUInt64BE(4),
    publishTimeNs: bytes.readBigUInt64BE(12),
    data: bytes.subarray(dataStart),
  }
}
