import { recordingTopics } from '@wheelhouse/protocol'
import type { McapFileReader } from '../../recordings/mcap/index.ts'
import type { DatasetPlan } from './dataset-plan.ts'
import {
  atOffset,
  durationMsOf,
  type EpisodePeriod,
  LOOKBACK_MS,
  MAX_WAY_MS,
  madeMs,
  offsetMs,
  valueTopics,
} from './episode-scan.ts'
import { type PolicyPart, policyPartIn } from './policy-part.ts'
import { Resampler, type ResamplingCounts, type Row, type TimedMessage } from './resampler.ts'
import { SeenClock } from './seen-clock.ts'
import { messageContent } from './slot-values.ts'

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

/**
 * Reads commands with the times at which the robot got them, or those of the clock, and samples with those at which the robot made them.
 * With a policy also its commands, those that were dropped because it did not hold control with the times of their arrival.
 */
async function* readValues(
  reader: McapFileReader,
  period: EpisodePeriod,
  clock: SeenClock | undefined,
  policy: PolicyPart | undefined,
): AsyncGenerator<Arrived> {
  const endMs = durationMsOf(period) + LOOKAHEAD_MS
  const messages = reader.readMessages({
    topics: [...valueTopics, ...(policy ? [recordingTopics.dropped] : [])],
    startTime: atOffset(period, -LOOKBACK_MS),
    endTime: atOffset(period, endMs + MAX_WAY_MS),
    validateCrcs: false, // the scan of the cameras did
  })
  for await (const message of messages) {
    const topic = reader.channelsById.get(message.channelId)?.topic
    const isControl = topic === recordingTopics.control
    const arrivedMs = offsetMs(period, message.logTime)
    const content = messageContent(message.data)
    if (topic === recordingTopics.dropped) {
      if (!content?.isOfPolicy || arrivedMs > endMs) continue
      policy?.noteCommand(arrivedMs)
      yield { source: 'policy', atMs: arrivedMs, arrivedMs, content }
      continue
    }
    const commandMs = () => clock?.commandMs(picturesOf(content?.seen, period), arrivedMs) ?? arrivedMs
    const atMs = isControl ? commandMs() : madeMs(period, message)
    const source = isControl ? 'control' : 'telemetry'
    if (atMs > endMs) continue
    yield { source, atMs, arrivedMs, content }
    if (isControl && content && policy?.held(content.epoch))
      yield { source: 'policy', atMs, arrivedMs, content }
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
  const policy = await policyPartIn(reader, period)
  const marked = (rows: Iterable<Row>) => (policy ? markInterventions(rows, policy) : rows)
  for await (const message of byTime(readValues(reader, period, clock, policy)))
    yield* marked(resampler.add(message))
  yield* marked(resampler.end())
}

/** Marks the rows of an episode in which a policy takes part: a person intervened in those in which one held control. */
function* markInterventions(rows: Iterable<Row>, policy: PolicyPart): Generator<Row> {
  for (const row of rows) yield { ...row, isIntervention: policy.isIntervention(row.atMs) }
}
