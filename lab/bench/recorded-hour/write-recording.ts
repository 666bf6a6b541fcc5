import { open } from 'node:fs/promises'
import { encodeFrame, openMcapFile, topicDefinition } from '../../../src/modules/recordings/mcap/index.ts'
import type { RecordedChannel } from '../../../src/modules/recordings/recording.entity.ts'
import { encodePictures, PICTURE } from './encode-pictures.ts'

export const CONTROL_HZ = 50
export const TELEMETRY_HZ = 30
const LATENCY_HZ = 1
const CHAT_EVERY_S = 30

/** A topic whose messages have a fixed rate. */
interface Track {
  readonly topic: string
  readonly hz: number
  readonly schema?: 'CompressedVideo'
  message(index: number, atMs: number): Uint8Array
}

const json = (value: unknown) => Buffer.from(JSON.stringify(value))

/** Returns a sample of a robot that drives in a circle of two metres. */
const telemetry = (seconds: number) => ({
  pose: {
    x_m: 2 * Math.cos(seconds / 5),
    y_m: 2 * Math.sin(seconds / 5),
    heading_rad: seconds / 5 + Math.PI / 2,
  },
  velocity: { linear_mps: 0.4, angular_radps: 0.2 },
  battery: 0.9,
})

const tracksOf = (startMs: number, pictures: readonly Uint8Array[]): Track[] => [
  {
    topic: '/control',
    hz: CONTROL_HZ,
    message: (seq, atMs) =>
      json({ seq, t: atMs - startMs, data: { linear_mps: Math.sin(seq / 50) / 2, angular_radps: 0.2 } }),
  },
  {
    topic: '/telemetry',
    hz: TELEMETRY_HZ,
    message: (index, atMs) => json({ t: atMs - startMs, data: telemetry(index / TELEMETRY_HZ) }),
  },
  {
    topic: '/latency',
    hz: LATENCY_HZ,
    message: (index) => json({ operator_ms: 20 + (index % 7), robot_ms: 12 + (index % 5) }),
  },
  {
    topic: '/chat',
    hz: 1 / CHAT_EVERY_S,
    message: (index) =>
      json({
        seq: index + 1,
        id: crypto.randomUUID(),
        sender_id: crypto.randomUUID(),
        sender_name: 'Grace',
        sender_role: 'operator',
        body: `Message ${index}`,
      }),
  },
  {
    topic: '/camera/front',
    hz: PICTURE.hz,
    schema: 'CompressedVideo',
    message: (index, atMs) =>
      encodeFrame('CompressedVideo', {
        stampNs: nanoseconds(atMs),
        frameId: 'front',
        format: 'vp8',
        data: pictures[index % pictures.length] ?? new Uint8Array(),
      }),
  },
]

const nanoseconds = (ms: number) => BigInt(Math.round(ms * 1_000)) * 1_000n

/** Writes a recording with control, telemetry and one camera, as a finished recording is stored. */
export async function writeRecording(
  path: string,
  { startMs, seconds }: { startMs: number; seconds: number },
) {
  const tracks = tracksOf(startMs, await encodePictures())
  const handle = await open(path, 'wx')
  try {
    let sizeBytes = 0
    const file = await openMcapFile(async (bytes) => {
      sizeBytes += bytes.length
      await handle.writeFile(bytes)
    })
    for (const { track, index, atMs } of byTime(tracks, startMs, seconds)) {
      const { topic, schema } = track
      const time = nanoseconds(atMs)
      const message = { topic, logTimeNs: time, publishTimeNs: time, data: track.message(index, atMs) }
      await file.add(message, () => topicDefinition(topic, schema))
    }
    await file.addMetadata('schemas', { control_schema: 'null', telemetry_schema: 'null' })
    const counts = await file.end()
    const channels = tracks.map(({ topic, schema }): RecordedChannel => {
      const { schemaName } = topicDefinition(topic, schema)
      return { topic, schema: schemaName, messages: counts.get(topic) ?? 0 }
    })
    return { sizeBytes, channels }
  } finally {
    await handle.close()
  }
}

/** Merges the messages of the tracks by time. */
function* byTime(tracks: readonly Track[], startMs: number, seconds: number) {
  const next = tracks.map((track) => ({ track, index: 0 }))
  for (;;) {
    const first = next.reduce((a, b) => (a.index / a.track.hz <= b.index / b.track.hz ? a : b))
    const atMs = startMs + (first.index * 1_000) / first.track.hz
    if (atMs >= startMs + seconds * 1_000) return
    yield { track: first.track, index: first.index, atMs }
    first.index++
  }
}
