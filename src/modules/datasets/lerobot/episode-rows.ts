import { recordingTopics } from '@wheelhouse/protocol'
import type { McapFileReader } from '../../../core/mcap/mcap-reader.ts'
import { atOffset, type EpisodePeriod, offsetMs, valueTopics } from './episode-scan.ts'
import type { VectorFeature } from './features.ts'
import { Resampler, type ResamplingCounts, type Row } from './resampler.ts'
import { messageData } from './slot-values.ts'

/** How long before an episode the telemetry may be from that its first row has. */
const LOOKBACK_MS = 5_000
/** How long after an episode a sample may be that is nearest to its last row. */
const LOOKAHEAD_MS = 500

/** Reads the rows of an episode, in order. */
export async function* readRows(
  reader: McapFileReader,
  period: EpisodePeriod,
  vectors: readonly VectorFeature[],
  rowTimes: Float64Array,
  counts: ResamplingCounts,
): AsyncGenerator<Row> {
  const resampler = new Resampler(vectors, rowTimes, counts)
  const messages = reader.readMessages({
    topics: [...valueTopics],
    startTime: atOffset(period, -LOOKBACK_MS),
    endTime: period.endNs + BigInt(LOOKAHEAD_MS * 1_000_000),
    validateCrcs: false, // the scan of the cameras did
  })
  for await (const message of messages) {
    const topic = reader.channelsById.get(message.channelId)?.topic
    yield* resampler.add({
      source: topic === recordingTopics.control ? 'control' : 'telemetry',
      atMs: offsetMs(period, message.logTime),
      content: messageData(message.data),
    })
  }
  yield* resampler.end()
}
