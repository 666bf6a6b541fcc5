import { cameraTopic, recordingTopics } from '@wheelhouse/protocol'
import type { ObjectStore } from '../../../src/core/storage/object-store.ts'
import { encodeFrame, type FrameSchema } from '../../../src/modules/recordings/mcap/compressed-frame.ts'
import { openMcapFile } from '../../../src/modules/recordings/mcap/mcap-writer.ts'
import { topicDefinition } from '../../../src/modules/recordings/mcap/topics.ts'

const NS_PER_MS = 1_000_000

/** Returns Unix nanoseconds. Those of a date are no exact number. */
const toNanoseconds = (startMs: number, atMs: number): bigint =>
  BigInt(startMs) * BigInt(NS_PER_MS) + BigInt(Math.round(atMs * NS_PER_MS))

/** A JSON message. The time is from the start of the recording. */
interface FixtureMessage {
  readonly atMs: number
  /** The data of the frame; bytes for a binary one, and a text for one that is damaged. */
  readonly data?: unknown
  readonly raw?: string
  /** Of a command: when the pictures that its operator saw were captured, from the start of the recording. */
  readonly seen?: Readonly<Record<string, number>>
  /** Of a command: the epoch of the lease, or why it was dropped and whose it is. */
  readonly fields?: Readonly<Record<string, unknown>>
  /** How long it was on its way to the platform. */
  readonly wayMs?: number
}

export interface FixtureCamera {
  readonly name: string
  readonly format: 'vp8' | 'h264' | 'jpeg'
  readonly frames: readonly { readonly atMs: number; readonly data: Uint8Array; readonly wayMs?: number }[]
}

export interface FixtureRecording {
  readonly startMs: number
  readonly control?: readonly FixtureMessage[]
  readonly dropped?: readonly FixtureMessage[]
  readonly events?: readonly FixtureMessage[]
  readonly telemetry?: readonly FixtureMessage[]
  readonly cameras?: readonly FixtureCamera[]
  /** Further metadata of its session. */
  readonly session?: Readonly<Record<string, string>>
  readonly controlSchema?: object
  readonly telemetrySchema?: object
  readonly gaps?: readonly { from: string; to: string; reason: string }[]
}

interface Entry {
  readonly topic: string
  /** When it arrived. */
  readonly atMs: number
  readonly wayMs?: number
  readonly frames?: FrameSchema
  readonly bytes: () => Uint8Array
}

function* jsonEntries(
  topic: string,
  messages: readonly FixtureMessage[] = [],
  startMs = 0,
): Generator<Entry> {
  for (const [index, { atMs, data, raw, seen, fields, wayMs = 0 }] of messages.entries()) {
    const pictures = Object.entries(seen ?? {}).map(([camera, ms]) => [camera, startMs + ms])
    const payload =
      data instanceof Uint8Array ? { data_base64: Buffer.from(data).toString('base64') } : { data }
    yield {
      topic,
      atMs,
      wayMs,
      bytes: () =>
        Buffer.from(
          raw ??
            JSON.stringify({
              seq: index,
              t: atMs,
              ...(seen && { seen: Object.fromEntries(pictures) }),
              ...fields,
              ...payload,
            }),
        ),
    }
  }
}

function* cameraEntries(camera: FixtureCamera, startMs: number): Generator<Entry> {
  const frames = camera.format === 'jpeg' ? 'CompressedImage' : 'CompressedVideo'
  for (const { atMs, data, wayMs = 0 } of camera.frames) {
    const stampNs = toNanoseconds(startMs, atMs - wayMs)
    yield {
      topic: cameraTopic(camera.name),
      atMs,
      wayMs,
      frames,
      bytes: () => encodeFrame(frames, { stampNs, frameId: camera.name, format: camera.format, data }),
    }
  }
}

/** Stores a finished recording. Returns what the platform knows about its file. */
export async function storeRecording(store: ObjectStore, key: string, recording: FixtureRecording) {
  const {
    startMs,
    control,
    dropped,
    events,
    telemetry,
    cameras = [],
    controlSchema,
    telemetrySchema,
    gaps = [],
  } = recording
  const entries = [
    ...jsonEntries(recordingTopics.control, control, startMs),
    ...jsonEntries(recordingTopics.dropped, dropped, startMs),
    ...jsonEntries(recordingTopics.events, events),
    ...jsonEntries(recordingTopics.telemetry, telemetry),
    ...cameras.flatMap((camera) => [...cameraEntries(camera, startMs)]),
  ].sort((a, b) => a.atMs - b.atMs)
  const object = await store.create(key)
  const file = await openMcapFile(async (bytes) => await object.write(Buffer.from(bytes)))
  for (const { topic, atMs, wayMs = 0, frames, bytes } of entries) {
    const timeNs = toNanoseconds(startMs, atMs)
    const publishTimeNs = toNanoseconds(startMs, atMs - wayMs)
    await file.add({ topic, logTimeNs: timeNs, publishTimeNs, data: bytes() }, () =>
      topicDefinition(topic, frames),
    )
  }
  await file.addMetadata('schemas', {
    control_schema: controlSchema ? JSON.stringify(controlSchema) : '',
    telemetry_schema: telemetrySchema ? JSON.stringify(telemetrySchema) : '',
  })
  await file.addMetadata('session', recording.session ?? {})
  await file.addMetadata('gaps', { gaps: JSON.stringify(gaps) })
  const messages = await file.end()
  const { sizeBytes } = await object.complete()
  const channels = [...messages].map(([topic, count]) => ({ topic, schema: '', messages: count }))
  return { key, sizeBytes, channels }
}

/** Returns times at a rate, from 0 up to before a duration. */
export const timesAt = (rate: number, durationMs: number): number[] =>
  Array.from({ length: Math.floor((durationMs * rate) / 1_000) }, (_, index) => (index * 1_000) / rate)
