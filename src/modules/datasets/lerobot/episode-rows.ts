import { recordingTopics } from '@wheelhouse/protocol'
import type { McapFileReader } from '../../recordings/mcap/index.ts'
import {
  atOffset,
  durationMsOf,
  type EpisodePeriod,
  MAX_WAY_MS,
  madeMs,
  offsetMs,
  valueTopics,
} from './episode-scan.ts'
import type { VectorFeature } from './features.ts'
import { type Alignment, Resampler, type ResamplingCounts, type Row, type TimedMessage } from './resampler.ts'
import { messageData } from './slot-values.ts'

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

/** Reads commands with the times at which the robot got them, and samples with those at which the robot made them. */
async function* readValues(reader: McapFileReader, period: EpisodePeriod): AsyncGenerator<Arrived> {
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
    const atMs = isControl ? arrivedMs : madeMs(period, message)
    const source = isControl ? 'control' : 'telemetry'
    if (atMs <= endMs) yield { source, atMs, arrivedMs, content: messageData(message.data) }
  }
}

/** Reads the rows of an episode, in order. */
export async function* readRows(
  reader: McapFileReader,
  period: EpisodePeriod,
  vectors: readonly VectorFeature[],
  rowTimes: Float64Array,
  counts: ResamplingCounts,
  alignment: Alignment,
): AsyncGenerator<Row> {
  const resampler = new Resampler(vectors, rowTimes, counts, alignment)
  for await (const message of byTime(readValues(reader, period))) yield* resampler.add(message)
  yield* resampler.end()
}
