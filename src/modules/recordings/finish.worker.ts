import { randomUUID } from 'node:crypto'
import { type Kysely, type Selectable, sql } from 'kysely'
import type { CoreServices } from '../../core/core-services.ts'
import { iso } from '../../core/database/iso.ts'
import type { Tables } from '../../core/database/tables.ts'
import type { Tx } from '../../core/events/transactor.ts'
import { type Attempt, ClaimLostError } from '../../core/jobs/queue.ts'
import {
  type ObjectStore,
  StorageUnavailableError,
  type StoredObject,
} from '../../core/storage/object-store.ts'
import type { RecordingJob } from './finish-queue.ts'
import { openMcapFile, type RecordedMessage } from './mcap/mcap-writer.ts'
import { topicDefinition } from './mcap/topics.ts'
import { type DefinedMessage, type MessageSource, mergeByTime, readStream } from './merge-segments.ts'
import { fileKey, recordingPrefix } from './object-keys.ts'
import type { RecordedChannel } from './recording.entity.ts'
import { readSessionLog, type SessionDetails, sessionDetails } from './session-log.ts'

/** Failed attempts after which a recording is FAILED: about twenty minutes, with the delays of the queue. */
const ATTEMPTS_BEFORE_FAILED = 10
const MAX_ERROR_LENGTH = 500

/**
 * Marks a recording FAILED whose finishing has failed repeatedly, unless only the storage is unavailable or the attempt was
 * stopped. Its segments stay readable, and the job goes on: a later attempt can still make the recording READY.
 */
async function markFailed(
  db: Kysely<Tables>,
  { data, number, signal }: Pick<Attempt<RecordingJob>, 'data' | 'number' | 'signal'>,
  cause: unknown,
): Promise<void> {
  const isExpected = cause instanceof StorageUnavailableError || cause instanceof ClaimLostError
  if (number < ATTEMPTS_BEFORE_FAILED || signal.aborted || isExpected) return
  const error = (cause instanceof Error ? cause.message : String(cause)).slice(0, MAX_ERROR_LENGTH)
  await db
    .updateTable('recordings')
    .set({ status: 'FAILED', error })
    .where('id', '=', data.recordingId)
    .where('status', '=', 'FINISHING')
    .execute()
}

/** The states in which a recording has no file yet. After repeated failures it is FAILED, and the job goes on. */
const UNFINISHED = ['FINISHING', 'FAILED'] as const
/** The job checks for its abortion after this number of messages. */
const CHECK_EVERY = 1_000

type Row = Selectable<Tables['recordings']>
type SegmentRow = Selectable<Tables['recording_segments']> & { readonly source: string }

/** A finished file, and its content. */
interface FinishedFile {
  readonly file: StoredObject
  readonly channels: readonly RecordedChannel[]
  readonly damaged: readonly SegmentRow[]
}

export type FinishWorkerDeps = Pick<CoreServices, 'db' | 'transact' | 'now'> & {
  readonly store: ObjectStore
  /** Called in the transaction that completes a recording. */
  readonly onFinished: (tx: Tx, recording: Row) => Promise<void>
}

/** Creates the handler that merges the segments of a recording into one indexed file. */
export function createFinishWorker(deps: FinishWorkerDeps) {
  const { db, transact, now, store } = deps

  async function write(attempt: Attempt<RecordingJob>, row: Row): Promise<FinishedFile> {
    const { id } = row
    const segments = await db
      .selectFrom('recording_segments as segment')
      .innerJoin('recording_streams as stream', 'stream.id', 'segment.stream_id')
      .selectAll('segment')
      .select('stream.source')
      .where('segment.recording_id', '=', id)
      .orderBy('segment.stream_id')
      .orderBy('segment.number')
      .execute()
    const details = await sessionDetails(db, row)
    const damaged: SegmentRow[] = []
    let done = 0
    const onRead = async () => {
      attempt.signal.throwIfAborted()
      await attempt.progress(++done, segments.length)
    }
    const sources = sourcesOf(store, segments, {
      onRead,
      onDamaged: (segment) => damaged.push(segment),
    })
    sources.push(logSource(await readSessionLog(db, row.session_id)))
    const writer = await store.create(fileKey(id, randomUUID()))
    try {
      const mcap = await openMcapFile((bytes) => writer.write(bytes))
      const schemaNames = new Map<string, string>()
      let count = 0
      for await (const message of mergeByTime(sources)) {
        if (++count % CHECK_EVERY === 0) attempt.signal.throwIfAborted()
        schemaNames.set(message.topic, message.definition.schemaName)
        await mcap.add(message, () => message.definition)
      }
      await addMetadata(mcap.addMetadata, row, { ...details, gaps: withDamaged(details.gaps, damaged) })
      const counts = await mcap.end()
      const channels = [...counts].map(([topic, messages]) => ({
        topic,
        schema: schemaNames.get(topic) ?? '',
        messages,
      }))
      return { file: await writer.complete(), channels, damaged }
    } catch (cause) {
      await writer.abort().catch(() => {}) // an object that was not completed is not visible
      throw cause
    }
  }

  /** Marks the recording READY with this file. Returns false if another attempt has done so, or the recording was deleted. */
  async function complete(row: Row, finished: FinishedFile): Promise<boolean> {
    return await transact(async (tx) => {
      const { file, channels, damaged } = finished
      const ready = await tx.db
        .updateTable('recordings')
        .set({
          status: 'READY',
          file_key: file.key,
          size_bytes: file.sizeBytes,
          channels: sql`${JSON.stringify(channels)}::jsonb`,
          finished_at: now(),
          error: null,
        })
        .where('id', '=', row.id)
        .where('status', 'in', UNFINISHED)
        .returningAll()
        .executeTakeFirst()
      if (!ready) return false
      for (const { from_at, to_at, source } of damaged)
        await tx.db
          .insertInto('recording_gaps')
          .values({ recording_id: row.id, source, from_at, to_at, reason: 'segment_damaged' })
          .execute()
      await deps.onFinished(tx, ready)
      return true
    })
  }

  /** Deletes the objects that the file replaces, also those of attempts that did not end. */
  async function cleanUp(row: Row, keptKey: string): Promise<void> {
    await db.deleteFrom('recording_segments').where('recording_id', '=', row.id).execute()
    const keys: string[] = []
    for await (const { key } of store.list(recordingPrefix(row.id))) if (key !== keptKey) keys.push(key)
    await store.delete(keys)
  }

  return async (attempt: Attempt<RecordingJob>): Promise<void> => {
    const row = await db
      .selectFrom('recordings')
      .selectAll()
      .where('id', '=', attempt.data.recordingId)
      .where('status', 'in', [...UNFINISHED, 'READY'])
      .executeTakeFirst()
    if (!row) return
    // The file of a recording that is ready may be all that an attempt has completed before its process ended.
    if (row.file_key !== null) return await cleanUp(row, row.file_key)
    const finished = await write(attempt, row).catch(async (cause) => {
      await markFailed(db, attempt, cause)
      throw cause
    })
    if (await complete(row, finished)) return await cleanUp(row, finished.file.key)
    await store.delete([finished.file.key])
    throw new ClaimLostError('Another process has finished the recording, or it was deleted')
  }
}

/** Returns a source of messages for each stream, in the order of its segments. */
function sourcesOf(
  store: ObjectStore,
  segments: readonly SegmentRow[],
  events: { onRead: () => Promise<void>; onDamaged: (segment: SegmentRow) => void },
): MessageSource[] {
  const byStream = Map.groupBy(segments, ({ stream_id }) => stream_id)
  return [...byStream.values()].map((rows) => {
    const [first] = rows as [SegmentRow, ...SegmentRow[]]
    const sources = rows.map((row) => ({
      objectKey: row.object_key,
      sha256: row.sha256,
      fromMs: row.from_at.getTime(),
      toMs: row.to_at.getTime(),
      row,
    }))
    const messages = readStream(store, sources, {
      onRead: events.onRead,
      onDamaged: (segment) => events.onDamaged((segment as (typeof sources)[number]).row),
    })
    return { fromNs: BigInt(first.from_at.getTime()) * 1_000_000n, messages }
  })
}

/** Returns the session's log as a source. */
function logSource(log: readonly RecordedMessage[]): MessageSource {
  async function* messages(): AsyncGenerator<DefinedMessage> {
    for (const message of log) yield { ...message, definition: topicDefinition(message.topic) }
  }
  return { fromNs: log[0]?.logTimeNs ?? 0n, messages: messages() }
}

/** Returns the gaps of a recording with those of its damaged segments, in the order of their times. */
const withDamaged = (gaps: SessionDetails['gaps'], damaged: readonly SegmentRow[]): SessionDetails['gaps'] =>
  [
    ...gaps,
    ...damaged.map(({ from_at, to_at }) => ({
      from: iso(from_at),
      to: iso(to_at),
      reason: 'segment_damaged' as const,
    })),
  ].toSorted((a, b) => a.from.localeCompare(b.from))

async function addMetadata(
  add: (name: string, values: Readonly<Record<string, string>>) => Promise<void>,
  row: Row,
  { session, gaps }: SessionDetails,
): Promise<void> {
  await add('session', session)
  await add('schemas', {
    control_schema: JSON.stringify(row.control_schema),
    telemetry_schema: JSON.stringify(row.telemetry_schema),
  })
  await add('gaps', { gaps: JSON.stringify(gaps) })
}
