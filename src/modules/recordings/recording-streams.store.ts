import { randomUUID } from 'node:crypto'
import type { GapReason, RecordingMode } from '@wheelhouse/protocol'
import { type Selectable, sql } from 'kysely'
import type { CoreServices } from '../../core/core-services.ts'
import type { Db, Tables } from '../../core/database/tables.ts'
import type { Tx } from '../../core/events/transactor.ts'
import { segmentKey } from './object-keys.ts'
import type { Quota } from './quota.ts'
import { type AppendSessionNote, createRecordingState } from './recording-state.ts'
import { beginGap, noteLateSource } from './refused-sources.ts'

/** The request of a source to open a stream. Times are Unix milliseconds. */
export interface OpenStreamRequest {
  readonly streamId: string
  readonly sessionId: string
  /** `gateway`, or `camera/<name>`. */
  readonly source: string
  readonly nodeId: string
  /** The first of the streams that this one continues: its source sends again what they had not stored. Its own id if it continues none. */
  readonly originId: string
  readonly atMs: number
}

export type OpenStreamResult =
  /** Records up to `durableUpToMs` are stored already. */
  | { readonly recordingId: string; readonly durableUpToMs: number }
  | {
      readonly refused: 'session_over' | 'recording_off' | 'quota_exceeded' | 'stream_closed'
      readonly retryAfterMs: number | null
    }

/** A segment that is durable in the storage. */
export interface NewSegment {
  readonly streamId: string
  readonly recordingId: string
  readonly number: number
  readonly fromMs: number
  readonly lastMs: number
  readonly messages: number
  readonly sizeBytes: number
  readonly sha256: string
}

interface Gap {
  readonly source: string
  readonly fromMs: number
  readonly toMs: number
  readonly reason: GapReason
}

const QUOTA_RETRY_MS = 30_000
/** How long after the end of a session a new stream may still deliver its records. */
const LATE_MS = 60_000

/** Records streams, segments and gaps for recorders. Each statement is conditional: a recorder that stalled changes nothing late. */
export function createRecordingStreams(
  deps: Pick<CoreServices, 'db' | 'transact' | 'now'> & { quota: Quota; appendNote: AppendSessionNote },
) {
  const { db, transact, now, quota } = deps
  const state = createRecordingState(deps)

  /** Returns the recording of an open session, which it creates for the first stream. */
  async function recordingFor(tx: Tx, request: OpenStreamRequest) {
    const { sessionId, source } = request
    const resumes = isContinued(request)
    const session = await tx.db
      .selectFrom('sessions')
      .innerJoin('robots', 'robots.id', 'sessions.robot_id')
      .leftJoin('robot_models as model', 'model.robot_type', 'robots.robot_type')
      .select(['sessions.id', 'sessions.robot_id', 'sessions.client_id', 'sessions.operator_id'])
      .select(['sessions.status', 'sessions.ended_at', 'robots.recording'])
      .select(({ fn }) => [
        fn.coalesce('robots.control_schema', 'model.control_schema').as('control_schema'),
        fn.coalesce('robots.telemetry_schema', 'model.telemetry_schema').as('telemetry_schema'),
      ])
      .where('sessions.id', '=', sessionId)
      .executeTakeFirst()
    if (!session) return 'session_over'
    const isOpen = session.status === 'ACTIVE' || session.status === 'PAUSED'
    // A source that reached no recorder in time, or whose recorder was lost, stores the rest after the session.
    const isRecent = session.ended_at !== null && now().getTime() - session.ended_at.getTime() < LATE_MS
    if (!isOpen && !isRecent && !resumes) return 'session_over'
    const isCamera = source !== 'gateway'
    const isOff = session.recording === 'off' || (isCamera && session.recording !== 'video')
    if (isOff && !resumes) return 'recording_off'
    const mayBegin = isOpen || (isRecent && !(await wasRecorded(tx, sessionId)))
    if (mayBegin && session.recording !== 'off') await createRecording(tx, session, session.recording)
    const recording = await tx.db
      .selectFrom('recordings')
      .select(['id', 'client_id', 'mode', 'paused_reason'])
      .where('session_id', '=', sessionId)
      .where('status', '=', 'RECORDING')
      .forUpdate()
      .executeTakeFirst()
    if (!recording) return 'session_over'
    return { ...recording, wanted: isOpen && session.recording !== 'off' ? session.recording : undefined }
  }

  /** Creates the recording of a session, unless it exists. */
  async function createRecording(
    tx: Tx,
    session: Pick<
      Selectable<Tables['sessions']>,
      'id' | 'robot_id' | 'client_id' | 'operator_id' | 'ended_at'
    > & {
      control_schema: Record<string, unknown> | null
      telemetry_schema: Record<string, unknown> | null
    },
    mode: Exclude<RecordingMode, 'off'>,
  ): Promise<void> {
    const { id, robot_id, client_id, operator_id, control_schema, telemetry_schema } = session
    await tx.db
      .insertInto('recordings')
      .values({
        id: randomUUID(),
        session_id: id,
        robot_id,
        client_id,
        operator_id,
        mode,
        control_schema,
        telemetry_schema,
        started_at: session.ended_at ?? now(),
        paused_reason: 'off', // `markRecorded` changes it, and notes that in the session's log
      })
      .onConflict((conflict) => conflict.column('session_id').doNothing())
      .execute()
  }

  return {
    /** Opens a stream. Those that it continues cannot add segments any more. */
    openStream: (request: OpenStreamRequest): Promise<OpenStreamResult> =>
      transact(async (tx) => {
        const { streamId, originId, sessionId, source, nodeId, atMs } = request
        const recording = await recordingFor(tx, request)
        if (recording === 'session_over' && !isContinued(request)) await noteLateSource(tx, request)
        if (typeof recording === 'string')
          return { refused: recording, retryAfterMs: recording === 'session_over' ? null : 1_000 }
        if (await quota.isExceeded(tx.db, recording.client_id)) {
          await beginGap(tx, recording.id, { source, atMs, reason: 'quota_exceeded' })
          await state.quotaExceeded(tx, recording.id)
          return { refused: 'quota_exceeded', retryAfterMs: QUOTA_RETRY_MS }
        }
        await tx.db
          .updateTable('recording_streams')
          .set({ closed_at: now() })
          .where('origin_id', '=', originId)
          .where('closed_at', 'is', null)
          .execute()
        const ids = { id: streamId, recording_id: recording.id, origin_id: originId }
        await tx.db
          .insertInto('recording_streams')
          .values({ ...ids, source, node_id: nodeId, opened_at: new Date(atMs) })
          .execute()
        await endOpenGaps(tx, recording.id, request)
        await state.recorded(tx, sessionId, recording)
        return { recordingId: recording.id, durableUpToMs: await durableUpTo(tx, recording.id, originId) }
      }),

    /** Lists a segment of an open stream. Returns the reason if it is rejected. A segment that is listed already counts once. */
    addSegment: (segment: NewSegment): Promise<'added' | 'stream_closed' | 'quota_exceeded'> =>
      transact(async (tx) => {
        const { recordingId, sizeBytes } = segment
        if (!(await insertSegment(tx, segment)))
          return (await hasSegment(tx, segment)) ? 'added' : 'stream_closed'
        const recording = await tx.db
          .updateTable('recordings')
          .set((eb) => ({ size_bytes: eb('size_bytes', '+', sizeBytes), segments: eb('segments', '+', 1) }))
          .where('id', '=', recordingId)
          .returning(['client_id', 'paused_reason'])
          .executeTakeFirstOrThrow()
        if (await quota.isExceeded(tx.db, recording.client_id)) return 'quota_exceeded'
        // A recorder that stores again may not be the one that reported the interruption.
        if (recording.paused_reason !== null) await state.setPaused(tx, recordingId, null)
        return 'added'
      }),

    /** Ends a stream. `gap` says from when on data is missing, until the source opens the next stream. */
    closeStream: (
      streamId: string,
      end: { atMs: number; gap: { fromMs: number; reason: GapReason } | null },
    ): Promise<void> =>
      transact(async (tx) => {
        const stream = await tx.db
          .updateTable('recording_streams')
          .set({ closed_at: new Date(end.atMs) })
          .where('id', '=', streamId)
          .where('closed_at', 'is', null)
          .returning(['recording_id', 'source', 'origin_id'])
          .executeTakeFirst()
        if (!stream) return
        const { recording_id, source, origin_id } = stream
        if (end.gap) {
          const { fromMs, reason } = end.gap
          await sql`
            insert into recording_gaps (recording_id, source, origin_id, reason, from_at, to_at)
            select ${recording_id}::uuid, ${source}, ${origin_id}::uuid, ${reason}, gap.from_at, (
              select min(m.opened_at) from recording_streams m
              where m.recording_id = ${recording_id}::uuid and m.source = ${source} and m.origin_id <> ${origin_id}::uuid
                and m.opened_at >= gap.from_at)
            from (select ${new Date(Math.floor(fromMs))}::timestamptz as from_at) gap`.execute(tx.db)
        }
        if (source === 'gateway') await state.stopped(tx, recording_id)
      }),

    addGap: (recordingId: string, gap: Gap): Promise<void> => addGap(db, recordingId, gap),

    /** Stores a gap of a source that has reached no recorder, if its session was recorded otherwise. */
    async addGapOfSession(sessionId: string, gap: Gap): Promise<void> {
      const recording = await db
        .selectFrom('recordings')
        .select('id')
        .where('session_id', '=', sessionId)
        .executeTakeFirst()
      if (recording) await addGap(db, recording.id, gap)
    },

    /** Stores why nothing can be recorded; null once recording continues. Participants of the session see it. */
    setPaused: (recordingId: string, reason: GapReason | null): Promise<void> =>
      transact((tx) => state.setPaused(tx, recordingId, reason)),
  }
}
export type RecordingStreams = ReturnType<typeof createRecordingStreams>

/** Stores a gap, unless the recording was deleted. */
async function addGap(db: Db, recordingId: string, gap: Gap): Promise<void> {
  const { source, fromMs, toMs, reason } = gap
  const from_at = new Date(Math.floor(fromMs))
  await db
    .insertInto('recording_gaps')
    .columns(['recording_id', 'source', 'from_at', 'to_at', 'reason'])
    .expression(
      (eb) =>
        eb
          .selectFrom('recordings')
          .select((column) => [
            'recordings.id',
            column.val(source).as('source'),
            sql<Date>`${from_at}::timestamptz`.as('from_at'),
            sql<Date>`${new Date(Math.max(Math.ceil(toMs), from_at.getTime()))}::timestamptz`.as('to_at'),
            column.val<string>(reason).as('reason'),
          ])
          .where('recordings.id', '=', recordingId)
          .forKeyShare(), // waits for a deletion, after which nothing is left to store
    )
    .execute()
}

/** Inserts a segment, if its stream is open and the segment is new. Returns whether it was inserted. */
async function insertSegment(tx: Tx, segment: NewSegment): Promise<boolean> {
  const { streamId, recordingId, number, fromMs, lastMs, messages, sizeBytes, sha256 } = segment
  // The lock orders it with the end of the recording, and with the next stream of its source, which reads what is stored.
  const recording = await tx.db
    .selectFrom('recordings')
    .select('id')
    .where('id', '=', recordingId)
    .where('status', '=', 'RECORDING')
    .forUpdate()
    .executeTakeFirst()
  if (!recording) return false
  // Not in the same statement, which would not see that the next stream has closed this one while it waited for the lock.
  const stream = await tx.db
    .selectFrom('recording_streams')
    .select('id')
    .where('id', '=', streamId)
    .where('recording_id', '=', recordingId)
    .where('closed_at', 'is', null)
    .executeTakeFirst()
  if (!stream) return false
  const { numInsertedOrUpdatedRows } = await tx.db
    .insertInto('recording_segments')
    .values({
      stream_id: streamId,
      number,
      recording_id: recordingId,
      from_at: new Date(Math.floor(fromMs)),
      to_at: new Date(Math.ceil(lastMs)),
      last_ms: lastMs,
      messages,
      size_bytes: sizeBytes,
      sha256,
      object_key: segmentKey(recordingId, streamId, number),
    })
    .onConflict((conflict) => conflict.columns(['stream_id', 'number']).doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

/** Returns whether a segment was recorded before: the response to an earlier attempt may have been lost. */
async function hasSegment(tx: Tx, { streamId, number, sha256 }: NewSegment): Promise<boolean> {
  const row = await tx.db
    .selectFrom('recording_segments')
    .select('number')
    .where('stream_id', '=', streamId)
    .where('number', '=', number)
    .where('sha256', '=', sha256)
    .executeTakeFirst()
  return row !== undefined
}

/** Returns whether a session had a recording while it was open. If it has none any more, it was deleted. */
async function wasRecorded(tx: Tx, sessionId: string): Promise<boolean> {
  const row = await tx.db
    .selectFrom('session_events')
    .select('seq')
    .where('session_id', '=', sessionId)
    .where('type', 'like', 'recording.%')
    .executeTakeFirst()
  return row !== undefined
}

const isContinued = ({ streamId, originId }: OpenStreamRequest): boolean => streamId !== originId

/**
 * Ends the gaps that began with the end of an earlier stream. A source that continues its stream sends the missing records again, so its
 * gaps are deleted. A new source of the same data ends the gaps now.
 */
async function endOpenGaps(tx: Tx, recordingId: string, request: OpenStreamRequest): Promise<void> {
  const { originId, source, atMs } = request
  if (isContinued(request))
    await tx.db
      .deleteFrom('recording_gaps')
      .where('recording_id', '=', recordingId)
      .where('origin_id', '=', originId)
      .execute()
  else
    await tx.db
      .updateTable('recording_gaps')
      .set({ to_at: sql`greatest(from_at, ${new Date(atMs)}::timestamptz)` })
      .where('recording_id', '=', recordingId)
      .where('source', '=', source)
      .where('to_at', 'is', null)
      .execute()
}

async function durableUpTo(tx: Pick<Tx, 'db'>, recordingId: string, originId: string): Promise<number> {
  const row = await tx.db
    .selectFrom('recording_segments as segment')
    .innerJoin('recording_streams as stream', 'stream.id', 'segment.stream_id')
    .select(({ fn }) => fn.max('segment.last_ms').as('last_ms'))
    .where('segment.recording_id', '=', recordingId)
    .where('stream.origin_id', '=', originId)
    .executeTakeFirst()
  return (row?.last_ms as number | null | undefined) ?? 0
}
