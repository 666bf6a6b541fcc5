import { cameraTopic } from '@wheelhouse/protocol'
import { encodeFrame } from '../../../src/modules/recordings/mcap/compressed-frame.ts'
import { openMcapFile, type RecordedMessage } from '../../../src/modules/recordings/mcap/mcap-writer.ts'
import { topicDefinition } from '../../../src/modules/recordings/mcap/topics.ts'

const NS_PER_MS = 1_000_000n
const START_NS = 1_790_000_000_000_000_000n
export const FRONT = cameraTopic('front')
export const SIDE = cameraTopic('side')
/** Frames between two keyframes of the camera `front`. */
const GROUP_OF_PICTURES = 25

/** Returns a time of the recording. */
export const atMs = (ms: number): bigint => START_NS + BigInt(Math.round(ms)) * NS_PER_MS

/** A message of the recording, with what a test needs to recognize it. */
export interface KnownMessage extends RecordedMessage {
  readonly isKeyframe: boolean
}

const h264 = (isKeyframe: boolean, number: number) =>
  Buffer.concat([
    Buffer.from(
      isKeyframe ? [0, 0, 0, 1, 0x67, 1, 0, 0, 0, 1, 0x68, 2, 0, 0, 0, 1, 0x65] : [0, 0, 0, 1, 0x41],
    ),
    Buffer.alloc(isKeyframe ? 8_000 : 1_000, number % 251 || 1),
  ])

/** Returns the messages of a session with telemetry, stops, chat, a camera with video and one with pictures. */
export function knownMessages(seconds: number): KnownMessage[] {
  const messages: KnownMessage[] = []
  const add = (topic: string, ms: number, data: Uint8Array, isKeyframe = false) =>
    messages.push({ topic, logTimeNs: atMs(ms), publishTimeNs: atMs(ms), data, isKeyframe })
  const json = (value: unknown) => Buffer.from(JSON.stringify(value))
  for (let ms = 0, number = 0; ms < seconds * 1_000; ms += 50, number++)
    add('/telemetry', ms, json({ t: ms, data: { number } }))
  for (const ms of [0, seconds * 500])
    add('/stop', ms + 7, json({ status: 'ACTIVE', robot_connected: true, stop: null }))
  for (const ms of [3_000, seconds * 900]) add('/chat', ms + 3, json({ seq: ms, body: `chat at ${ms}` }))
  for (let ms = 20, number = 0; ms < seconds * 1_000; ms += 100, number++) {
    const isKeyframe = number % GROUP_OF_PICTURES === 0
    const frame = { stampNs: atMs(ms), frameId: 'front', format: 'h264', data: h264(isKeyframe, number) }
    add(FRONT, ms, encodeFrame('CompressedVideo', frame), isKeyframe)
  }
  for (let ms = 500, number = 0; ms < seconds * 1_000; ms += 1_000, number++) {
    const frame = { stampNs: atMs(ms), frameId: 'side', format: 'jpeg', data: Buffer.alloc(2_000, number) }
    add(SIDE, ms, encodeFrame('CompressedImage', frame))
  }
  return messages.sort((one, other) => Number(one.logTimeNs - other.logTimeNs))
}

/** Returns the messages as an MCAP file. */
export async function writeRecording(
  messages: readonly RecordedMessage[],
  chunkBytes?: number,
): Promise<Buffer> {
  const parts: Uint8Array[] = []
  const file = await openMcapFile(async (bytes) => void parts.push(Buffer.from(bytes)), chunkBytes)
  for (const message of messages) {
    const schema = message.topic === SIDE ? 'CompressedImage' : 'CompressedVideo'
    await file.add(message, () => topicDefinition(message.topic, schema))
  }
  await file.end()
  return Buffer.concat(parts)
}
