import { encodeFrame } from '../../../src/modules/recordings/mcap/compressed-frame.ts'
import { openMcapFile, type RecordedMessage } from '../../../src/modules/recordings/mcap/mcap-writer.ts'
import { topicDefinition } from '../../../src/modules/recordings/mcap/topics.ts'
import { encodeCodedPictures } from './coded-picture.ts'

/** Pictures are repeated after this many, because encoding takes long. */
const LOOP_FRAMES = 300
const NS_PER_MS = 1_000_000n

export interface TestRecordingOptions {
  readonly startMs: number
  readonly seconds: number
  readonly cameras?: readonly string[]
  readonly fps?: number
  readonly keyframeEvery?: number
  /** Periods without any message, in seconds since the start. */
  readonly gaps?: readonly (readonly [from: number, to: number])[]
}

/** One message of a recording, with the value that the console shows. */
export interface TestMessage {
  readonly topic: string
  readonly atMs: number
  readonly value: unknown
  readonly message: RecordedMessage
  readonly schema?: 'CompressedVideo' | 'CompressedImage'
}

const json = (topic: string, atMs: number, value: unknown): TestMessage => {
  const logTimeNs = BigInt(Math.round(atMs * 1_000)) * 1_000n
  const data = Buffer.from(JSON.stringify(value))
  return { topic, atMs, value, message: { topic, logTimeNs, publishTimeNs: logTimeNs, data } }
}

/** Returns where the test robot is after some seconds: it drives in a circle. */
export const poseAt = (seconds: number) => ({
  x_m: Number((2 * Math.cos(seconds / 5)).toFixed(3)),
  y_m: Number((2 * Math.sin(seconds / 5)).toFixed(3)),
  heading_rad: Number((seconds / 5 + Math.PI / 2).toFixed(3)),
})

const NAMES = ['operator', 'client'] as const

function* controlMessages({ startMs, seconds }: TestRecordingOptions): Generator<TestMessage> {
  for (let index = 0; index < seconds * 20; index++) {
    const at = index / 20
    const atMs = startMs + at * 1_000 + 3
    const data = { linear_mps: Number((0.4 + 0.1 * Math.sin(at)).toFixed(3)), angular_radps: 0.2 }
    const frame = { seq: index, t: at * 1_000, data }
    if (at % 20 > 12 && at % 20 < 13) yield json('/control/dropped', atMs, { ...frame, why: 'latency' })
    else yield json('/control', atMs, frame)
  }
}

function* sampleMessages({ startMs, seconds }: TestRecordingOptions): Generator<TestMessage> {
  for (let index = 0; index < seconds * 10; index++) {
    const at = index / 10
    const data = {
      pose: poseAt(at),
      velocity: { linear_mps: Number((0.4 + 0.1 * Math.sin(at - 0.3)).toFixed(3)), angular_radps: 0.2 },
      battery: Number((0.9 - at / 10_000).toFixed(4)),
    }
    yield json('/telemetry', startMs + at * 1_000 + 7, { t: at * 1_000, data })
    if (index % 10 === 0)
      yield json('/latency', startMs + at * 1_000, {
        operator_ms: 20 + (index % 7),
        robot_ms: 12 + (index % 5),
      })
  }
}

function* rareMessages({ startMs, seconds }: TestRecordingOptions): Generator<TestMessage> {
  const state = { status: 'ACTIVE', robot_connected: true, stop: null }
  const stop = { reason: 'from the cockpit', latched: true, recorded: true, by_role: 'operator' }
  yield json('/stop', startMs, state)
  yield json('/limits', startMs, { speed_scale: 1, reason: null })
  if (seconds > 20) {
    yield json('/stop', startMs + 15_000, { ...state, status: 'PAUSED', stop })
    yield json('/stop', startMs + 18_000, { ...state, status: 'PAUSED' })
    yield json('/stop', startMs + 19_500, state)
    yield json('/limits', startMs + 12_000, { speed_scale: 0.5, reason: 'latency' })
  }
  let seq = 0
  yield json('/events', startMs, { seq: ++seq, type: 'session.started', data: { status: 'ACTIVE' } })
  for (let at = 5; at < seconds; at += 10) {
    const role = NAMES[seq % 2] ?? 'operator'
    yield json('/chat', startMs + at * 1_000, {
      seq: ++seq,
      id: crypto.randomUUID(),
      sender_id: crypto.randomUUID(),
      sender_name: role === 'client' ? 'Olive' : 'Grace',
      sender_role: role,
      body: `Message at ${at} s`,
    })
  }
}

async function* cameraMessages(options: TestRecordingOptions, camera: string): AsyncGenerator<TestMessage> {
  const { startMs, seconds, fps = 15, keyframeEvery = 30 } = options
  const count = Math.floor(seconds * fps)
  const frames = await encodeCodedPictures(Math.min(count, LOOP_FRAMES), keyframeEvery)
  for (let number = 0; number < count; number++) {
    const atMs = startMs + Math.round(((number * 1_000) / fps) * 1_000) / 1_000
    const stampNs = BigInt(Math.round(atMs)) * NS_PER_MS
    const code = number % LOOP_FRAMES
    const data = encodeFrame('CompressedVideo', {
      stampNs,
      frameId: camera,
      format: 'vp8',
      data: frames[code] ?? new Uint8Array(),
    })
    const topic = `/camera/${camera}`
    const logTimeNs = BigInt(Math.round(atMs * 1_000)) * 1_000n
    const message = { topic, logTimeNs, publishTimeNs: stampNs, data }
    yield { topic, atMs, value: code, message, schema: 'CompressedVideo' }
  }
}

/** Creates the messages of a recording by time. */
export async function createTestMessages(options: TestRecordingOptions): Promise<TestMessage[]> {
  const { startMs, cameras = ['front'], gaps = [] } = options
  const messages = [...controlMessages(options), ...sampleMessages(options), ...rareMessages(options)]
  for (const camera of cameras)
    for await (const message of cameraMessages(options, camera)) messages.push(message)
  const isInGap = (atMs: number) =>
    gaps.some(([from, to]) => atMs >= startMs + from * 1_000 && atMs < startMs + to * 1_000)
  return messages
    .filter(({ atMs, topic }) => topic === '/events' || topic === '/chat' || !isInGap(atMs))
    .sort((a, b) => a.atMs - b.atMs)
}

/** Returns the messages of a camera with these encoded frames, whose numbers count from 0. */
export const framesOf = (
  camera: string,
  format: 'h264' | 'vp8' | 'jpeg',
  frames: readonly Uint8Array[],
  { startMs, fps }: { readonly startMs: number; readonly fps: number },
): TestMessage[] =>
  frames.map((data, number) => {
    const atMs = startMs + Math.round(((number * 1_000) / fps) * 1_000) / 1_000
    const schema = format === 'jpeg' ? 'CompressedImage' : 'CompressedVideo'
    const logTimeNs = BigInt(Math.round(atMs * 1_000)) * 1_000n
    const topic = `/camera/${camera}`
    const encoded = encodeFrame(schema, { stampNs: logTimeNs, frameId: camera, format, data })
    const message = { topic, logTimeNs, publishTimeNs: logTimeNs, data: encoded }
    return { topic, atMs, value: number, message, schema }
  })

/** Writes messages as one MCAP file. */
export async function writeTestFile(messages: Iterable<TestMessage>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  const file = await openMcapFile(async (bytes) => void chunks.push(bytes.slice()))
  for (const { topic, message, schema } of messages)
    await file.add(message, () => topicDefinition(topic, schema as FrameSchemaName))
  await file.addMetadata('schemas', { control_schema: 'null', telemetry_schema: 'null' })
  await file.end()
  return Buffer.concat(chunks)
}

type FrameSchemaName = 'CompressedVideo' | 'CompressedImage'
