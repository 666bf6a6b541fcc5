import { recordingTopics } from '@wheelhouse/protocol'
import type { McapFileReader } from '../../recordings/mcap/index.ts'
import type { DatasetPlan } from './dataset-plan.ts'
import {
  atOffset,
  durationMsOf,
  type EpisodePeriod,
  MAX_WAY_MS,
  madeMs,
  offsetMs,
  valueTopics,
} from './episode-scan.ts'
import { Resampler, type ResamplingCounts, type Row, type TimedMessage } from './resampler.ts'
import { SeenClock } from './seen-clock.ts'
import { messageContent } from './slot-values.ts'

/** How long before an episode the telemetry may be from that its first row has. */
const LOOKBACK_MS = 5_000
/** How long after an episode a sample may be that is nearest to its last row. */
const LOOKAHEAD_MS = 500

/** A message, and when it arrived. */
type Arrived = TimedMessage & { readonly arrivedMs: number }

/** Sorts messages in the order of arrival by their own times, which are at most `MAX_WAY_MS` earlier. */
async function* byTime(messages: AsyncIterable<Arrived>): AsyncGenerator<TimedMessage> {
  const held: TimedMessage[] = []
  for await (const message of messages) {
    held.splice(held.findLastIndex(({ atMs }) => atMs <= message.atMs) + 1, 0, message)
    const later = held.findIndex(({ atMs }) => atMs > message.arrivedMs - MAX_WAY_MS)
    yield* held.splice(0, later === -1 ? held.length : later)
  }
  yield* held
}

/** Returns the pictures that the operator saw, with their times from the start of an episode. */
function picturesOf(seen: unknown, period: EpisodePeriod): ReadonlyMap<string, number> {
  if (typeof seen !== 'object' || seen === null) return new Map()
  const startMs = Number(period.startNs) / 1_000_000
  const times = Object.entries(seen).filter((entry): entry is [string, number] => Number.isFinite(entry[1]))
  return new Map(times.map(([camera, ms]) => [camera, ms - startMs]))
}

/** Reads commands with the times at which the robot got them, or those of the clock, and samples with those at which the robot made them. */
async function* readValues(
  reader: McapFileReader,
  period: EpisodePeriod,
  clock: SeenClock | undefined,
): AsyncGenerator<Arrived> {
  const endMs = durationMsOf(period) + LOOKAHEAD_MS
  const messages = reader.readMessages({
    topics: [...valueTopics],
    startTime: atOffset(period, -LOOKBACK_MS),
    endTime: atOffset(period, endMs + MAX_WAY_MS),
    validateCrcs: false, // the scan of the cameras did
  })
  for await (const message of messages) {
    const isControl = reader.channelsById.get(message.channelId)?.topic === recordingTopics.control
    const arrivedMs = offsetMs(period, message.logTime)
    const content = messageContent(message.data)
    const commandMs = () => clock?.commandMs(picturesOf(content?.seen, period), arrivedMs) ?? arrivedMs
    const atMs = isControl ? commandMs() : madeMs(period, message)
    const source = isControl ? 'control' : 'telemetry'
    if (atMs <= endMs) yield { source, atMs, arrivedMs, content }
  }
}

/** The part of the plan of a dataset that decides over the values of its rows. */
type RowPlan = Pick<DatasetPlan, 'vectors' | 'alignment' | 'align' | 'leadCamera' | 'cameras'>

/** Reads the rows of an episode, in order. */
export async function* readRows(
  reader: McapFileReader,
  period: EpisodePeriod,
  plan: RowPlan,
  rowTimes: Float64Array,
  counts: ResamplingCounts,
): AsyncGenerator<Row> {
  const { vectors, alignment, align, leadCamera, cameras } = plan
  const resampler = new Resampler(vectors, rowTimes, counts, alignment)
  const clock = align === 'seen' ? new SeenClock(leadCamera ?? cameras[0]?.name) : undefined
  for await (const message of byTime(readValues(reader, period, clock))) yield* resampler.add(message)
  yield* resampler.end()
}
