import { McapIndexedReader } from '@mcap/core'
import type { AcknowledgedSegment, RecordingFigures } from '../recordings.ts'
import type { Check, Environment } from './check.ts'

/** A robot receives a command this long after the gateway at most, unless a process between them was paused. */
const LATEST_MS = 9_000
/** How much times of two processes differ. */
const TOLERANCE_MS = 250
const NS_PER_MS = 1_000_000n
/** Written when a recording is finished, from the session's log. */
const LOG_TOPICS: ReadonlySet<string> = new Set(['/events', '/chat'])

interface Row {
  id: string
  session_id: string
  client_id: string
  status: string
}

interface ReadFile {
  /** Times of the messages of all streams, in order. */
  readonly timesNs: readonly bigint[]
  /** Numbers of the commands that reached the robot, in order. */
  readonly steps: readonly number[]
  readonly gaps: readonly { readonly from: string; readonly to: string; readonly reason: string }[]
}

/** Returns the recordings of ended sessions that are not finished. */
export async function unfinishedRecordings({ db }: Pick<Environment, 'db'>): Promise<string[]> {
  const { rows } = await db.query<Row>(
    `select r.id, r.session_id, r.status from recordings r join sessions s on s.id = r.session_id
     where s.status in ('COMPLETED', 'CANCELLED') and r.status <> 'READY'`,
  )
  return rows.map(({ id, session_id, status }) => `recording ${id} of session ${session_id} is ${status}`)
}

/**
 * Every recording of an ended session is one readable file. It contains each acknowledged segment once, and each command that a robot
 * received once and in order, except in the gaps that it names.
 */
export const recordingsComplete: Check = {
  name: 'every acknowledged segment is in a finished recording once and in order',
  async run(environment) {
    const { db, evidence, recordings } = environment
    if (!recordings) return []
    const { rows } = await db.query<Row>(
      "select id, session_id, client_id, status from recordings where status = 'READY' order by id",
    )
    const segments = Map.groupBy(await recordings.segments(), ({ recordingId }) => recordingId)
    const figures = evidence.recordings
    figures.recordings = rows.length
    const wrong = await unfinishedRecordings(environment)
    for (const row of rows) {
      const own = segments.get(row.id) ?? []
      const problems = await compare(row, own, environment, figures).catch((cause: unknown) => [
        `cannot be read: ${cause}`,
      ])
      wrong.push(...problems.map((problem) => `recording ${row.id} of session ${row.session_id}: ${problem}`))
    }
    return [...wrong, ...(await unrecorded(environment))]
  },
}

async function compare(
  row: Row,
  segments: readonly AcknowledgedSegment[],
  { evidence, recordings }: Environment,
  figures: RecordingFigures,
): Promise<string[]> {
  const bytes = await recordings?.file(row.id, row.client_id)
  if (!bytes) return ['has no file']
  const file = await readFile(bytes)
  figures.segments += segments.length
  figures.messages += file.timesNs.length
  for (const { reason } of file.gaps) figures.gaps.set(reason, (figures.gaps.get(reason) ?? 0) + 1)
  const commands = evidence.commands.get(row.session_id) ?? new Map<number, number>()
  const missing = missingCommands(file, commands)
  figures.commands += commands.size
  figures.missing += missing.explained
  return [...wrongSegments(file, segments), ...wrongOrder(file), ...missing.problems]
}

async function readFile(bytes: Uint8Array): Promise<ReadFile> {
  const reader = await McapIndexedReader.Initialize({
    readable: {
      size: async () => BigInt(bytes.length),
      read: async (offset, size) => bytes.subarray(Number(offset), Number(offset + size)),
    },
  })
  const timesNs: bigint[] = []
  const steps: number[] = []
  for await (const { channelId, logTime, data } of reader.readMessages({ validateCrcs: true })) {
    const topic = reader.channelsById.get(channelId)?.topic ?? ''
    if (LOG_TOPICS.has(topic)) continue
    timesNs.push(logTime)
    if (topic !== '/control') continue
    const step = JSON.parse(Buffer.from(data).toString()).data?.step
    if (typeof step === 'number') steps.push(step)
  }
  let gaps: ReadFile['gaps'] = []
  for await (const { name, metadata } of reader.readMetadata())
    if (name === 'gaps') gaps = JSON.parse(metadata.get('gaps') ?? '[]')
  return { timesNs, steps, gaps }
}

/** Returns acknowledged segments whose messages are not in the file, and whether the file contains others. */
function wrongSegments({ timesNs }: ReadFile, segments: readonly AcknowledgedSegment[]): string[] {
  const wrong = segments.flatMap(({ streamId, number, fromMs, lastMs, messages }) => {
    const fromNs = BigInt(fromMs) * NS_PER_MS
    const toNs = BigInt(Math.ceil(lastMs)) * NS_PER_MS
    const found = countBefore(timesNs, toNs + 1n) - countBefore(timesNs, fromNs)
    if (found >= messages) return []
    return [`segment ${number} of stream ${streamId} has ${messages} messages, and the file ${found} of them`]
  })
  const acknowledged = segments.reduce((sum, { messages }) => sum + messages, 0)
  if (acknowledged !== timesNs.length)
    wrong.push(
      `the acknowledged segments have ${acknowledged} messages in total, and the file has ${timesNs.length}`,
    )
  return wrong
}

/** Returns how many of these times, which are in order, are before a time. */
function countBefore(timesNs: readonly bigint[], atNs: bigint): number {
  let [low, high] = [0, timesNs.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((timesNs[middle] as bigint) < atNs) low = middle + 1
    else high = middle
  }
  return low
}

function wrongOrder({ steps }: ReadFile): string[] {
  const at = steps.findIndex((step, index) => index > 0 && step <= (steps[index - 1] as number))
  return at < 0 ? [] : [`command ${steps[at]} follows command ${steps[at - 1]}`]
}

/** Compares the file with the commands that a robot received. A missing one must be in a gap. */
function missingCommands(
  { steps, gaps }: ReadFile,
  commands: ReadonlyMap<number, number>,
): { explained: number; problems: string[] } {
  const recorded = new Set(steps)
  const periods = gaps.map(({ from, to }) => [Date.parse(from), Date.parse(to)] as const)
  const missing = [...commands].filter(([step]) => !recorded.has(step))
  const unexplained = missing.filter(
    ([, atMs]) => !periods.some(([from, to]) => from - TOLERANCE_MS <= atMs && atMs - LATEST_MS <= to),
  )
  const [first] = unexplained
  const at = first ? new Date(first[1]).toISOString() : ''
  const problems = first
    ? [`${unexplained.length} commands are missing outside of gaps, first number ${first[0]} at ${at}`]
    : []
  return { explained: missing.length - unexplained.length, problems }
}

/** Returns ended sessions in which a robot received commands, without a recording. */
async function unrecorded({ db, evidence }: Environment): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select s.id from sessions s where s.status in ('COMPLETED', 'CANCELLED')
       and not exists (select from recordings r where r.session_id = s.id)`,
  )
  return rows.flatMap(({ id }) => {
    const commands = evidence.commands.get(id)?.size ?? 0
    return commands > 0 ? [`session ${id}, with ${commands} commands, has no recording`] : []
  })
}
