import { cameraOfTopic, recordingTopics } from '@wheelhouse/protocol'
import { decodeFrame, type FrameSchema, type McapFileReader } from '../../recordings/mcap/index.ts'
import { type FrameFormat, frameHeader, isFrameFormat } from './frame-format.ts'
import type { PictureSize } from './picture-size.ts'

/** How long before an episode its first keyframe may be. Cameras send one at least every ten seconds. */
const KEYFRAME_LOOKBACK_MS = 15_000
const NS_PER_MS = 1_000_000

/** The frames of a camera in and before an episode. Times are from the start of the episode. */
export interface CameraScan {
  readonly name: string
  /** Undefined if the camera sent several formats, or one that is not supported. */
  readonly format: FrameFormat | undefined
  readonly times: Float64Array
  /** 1 for keyframes. */
  readonly keys: Uint8Array
  /** The size of the first keyframe. */
  readonly size: PictureSize | undefined
  readonly hasOneSize: boolean
}

/** A period of a recording in Unix nanoseconds. */
export interface EpisodePeriod {
  readonly startNs: bigint
  readonly endNs: bigint
}

export const durationMsOf = ({ startNs, endNs }: EpisodePeriod): number => Number(endNs - startNs) / NS_PER_MS
export const offsetMs = (period: EpisodePeriod, timeNs: bigint): number =>
  Number(timeNs - period.startNs) / NS_PER_MS
export const atOffset = ({ startNs }: EpisodePeriod, ms: number): bigint =>
  startNs + BigInt(Math.round(ms * NS_PER_MS))

/** How long a sample or a frame may have been on its way. One that seems to be older counts as made when it arrived. */
export const MAX_WAY_MS = 5_000
const MAX_WAY_NS = BigInt(MAX_WAY_MS * NS_PER_MS)

/** Returns when a sample or a frame was made, from the start of an episode. Where the platform does not know it, that is its arrival. */
export function madeMs(
  period: EpisodePeriod,
  { logTime, publishTime }: { readonly logTime: bigint; readonly publishTime: bigint },
): number {
  const isPlausible = publishTime <= logTime && logTime - publishTime <= MAX_WAY_NS
  return offsetMs(period, isPlausible ? publishTime : logTime)
}

/** Numbers in growing memory. */
class Growing {
  #values = new Float64Array(1_024)
  length = 0

  push(value: number): void {
    if (this.length === this.#values.length) {
      const larger = new Float64Array(this.length * 2)
      larger.set(this.#values)
      this.#values = larger
    }
    this.#values[this.length++] = value
  }

  values(): Float64Array {
    return this.#values.slice(0, this.length)
  }
}

function createCameraScan(name: string) {
  const [times, keys] = [new Growing(), new Growing()]
  const formats = new Set<string>()
  let size: PictureSize | undefined
  let hasOneSize = true
  return {
    add(atMs: number, format: string, data: Uint8Array): void {
      formats.add(format)
      if (!isFrameFormat(format)) return
      const header = frameHeader(format, data)
      if (header.size) {
        hasOneSize &&= !size || (size.width === header.size.width && size.height === header.size.height)
        size ??= header.size
      }
      times.push(atMs)
      keys.push(header.isKey ? 1 : 0)
    },
    result(): CameraScan {
      const [format = ''] = formats
      return {
        name,
        format: formats.size === 1 && isFrameFormat(format) ? format : undefined,
        times: times.values(),
        keys: Uint8Array.from(keys.values()),
        size,
        hasOneSize,
      }
    },
  }
}

/** Returns the schema of the frames of a channel; undefined for a channel of a foreign schema. */
function frameSchemaOf(reader: McapFileReader, channelId: number): FrameSchema | undefined {
  const channel = reader.channelsById.get(channelId)
  const name = channel && reader.schemasById.get(channel.schemaId)?.name
  if (name === 'foxglove.CompressedVideo') return 'CompressedVideo'
  return name === 'foxglove.CompressedImage' ? 'CompressedImage' : undefined
}

/** A frame of a camera. The time is that of its capture, from the start of the episode. */
interface RecordedFrame {
  readonly camera: string
  readonly atMs: number
  readonly format: string
  readonly data: Uint8Array
}

/**
 * Reads the frames that were captured in an episode, and in the time before in which a decoder may have to start, in the order of each
 * camera. Times of a camera never fall, although estimates of its clock change.
 */
export async function* readCameras(
  reader: McapFileReader,
  period: EpisodePeriod,
  topics: readonly string[],
  validateCrcs: boolean,
): AsyncGenerator<RecordedFrame> {
  if (topics.length === 0) return
  const newest = new Map<string, number>()
  const startTime = atOffset(period, -KEYFRAME_LOOKBACK_MS)
  const endTime = period.endNs + MAX_WAY_NS
  for await (const message of reader.readMessages({ topics, startTime, endTime, validateCrcs })) {
    const schema = frameSchemaOf(reader, message.channelId)
    const camera = cameraOfTopic(reader.channelsById.get(message.channelId)?.topic ?? '')
    if (!schema || camera === undefined) continue
    const atMs = Math.max(madeMs(period, message), newest.get(camera) ?? Number.NEGATIVE_INFINITY)
    newest.set(camera, atMs)
    if (atMs > durationMsOf(period)) continue
    yield { camera, atMs, ...decodeFrame(schema, message.data) }
  }
}

/** Reads when the cameras of an episode sent frames, and which are keyframes. */
export async function scanCameras(
  reader: McapFileReader,
  period: EpisodePeriod,
  cameras: readonly string[] | undefined,
): Promise<ReadonlyMap<string, CameraScan>> {
  const topics = [...reader.channelsById.values()]
    .map(({ topic }) => topic)
    .filter((topic) => {
      const camera = cameraOfTopic(topic)
      return camera !== undefined && (!cameras || cameras.includes(camera))
    })
  const scans = new Map<string, ReturnType<typeof createCameraScan>>()
  for await (const { camera, atMs, format, data } of readCameras(reader, period, topics, true)) {
    const scan = scans.get(camera) ?? createCameraScan(camera)
    scans.set(camera, scan)
    scan.add(atMs, format, data)
  }
  return new Map([...scans].map(([name, scan]) => [name, scan.result()]))
}

export const valueTopics = [recordingTopics.control, recordingTopics.telemetry] as const

/** How long before an episode the values may be from that its first row has. */
export const LOOKBACK_MS = 5_000
