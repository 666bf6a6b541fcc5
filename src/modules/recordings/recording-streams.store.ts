import { randomUUID } from 'node:crypto'
import type { GapReason, RecordingMode } from '@wheelhouse/protocol'
import { type Selectable, sql } from 'kysely'
import type { CoreServices } from '../../core/core-services.ts'
import type { Tables } from '../../core/database/tables.ts'
import type { Tx } from '../../core/events/transactor.ts'
import { segmentKey } from './object-keys.ts'
import type { Quota } from './quota.ts'

/** A source of data that wants to be recorded. Times are Unix milliseconds. */
export interface OpenStreamRequest {
  readonly streamId: string
  readonly sessionId: string
  /** `gateway`, or `camera/<name>`. */
  readonly source: string
  readonly nodeId: string
  /** Whether the source sends again what an earlier stream of it had not stored. */
  readonly resumes: boolean
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

/** Writes an entry of a session's log, if the session is open. The sessions module implements it. */
export type AppendSessionNote = (
  tx: Tx,
  sessionId: string,
  note: {
    readonly type: 'recording.started' | 'recording.paused' | 'recording.resumed' | 'recording.stopped'
    readonly at: Date
    readonly reason?: string
    readonly details: Readonly<Record<string, unknown>>
    readonly notifies?: boolean
  },
) => Promise<void>

const QUOTA_RETRY_MS = 30_000

/** Records streams, segments and gaps for recorders. Each statement is conditional: a recorder that stalled changes nothing late. */
export function createRecordingStreams(
  deps: Pick<CoreServices, 'db' | 'transact' | 'now'> & { quota: Quota; appendNote: AppendSessionNote },
) {
  const { db, transact, now, quota, appendNote } = deps

  /** Returns the recording of an open session, which it creates for the first stream. */
  async function recordingFor(tx: Tx, { sessionId, source, resumes }: OpenStreamRequest) {
    const session = await tx.db
      .selectFrom('sessions')
      .innerJoin('robots', 'robots.id', 'sessions.robot_id')
      .leftJoin('robot_models as model', 'model.robot_type', 'robots.robot_type')
      .select(['sessions.id', 'sessions.robot_id', 'sessions.client_id', 'sessions.operator_id'])
      .select(['sessions.status', 'robots.recording'])
      .select(({ fn }) => [
        fn.coalesce('robots.control_schema', 'model.control_schema').as('control_schema'),
        fn.coalesce('robots.telemetry_schema', 'model.telemetry_schema').as('telemetry_schema'),
      ])
      .where('sessions.id', '=', sessionId)
      .executeTakeFirst()
    if (!session) return 'session_over'
    const isOpen = session.status === 'ACTIVE' || session.status === 'PAUSED'
    // The rest of a stream whose recorder was lost is stored also after the session.
    if (!isOpen && !resumes) return 'session_over'
    const isCamera = source !== 'gateway'
    const isOff = session.recording === 'off' || (isCamera && session.recording !== 'video')
    if (isOff && !resumes) return 'recording_off'
    if (isOpen && session.recording !== 'off') await createRecording(tx, session, session.recording)
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
    session: Pick<Selectable<Tables['sessions']>, 'id' | 'robot_id' | 'client_id' | 'operator_id'> & {
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
        started_at: now(),
        paused_reason: 'off', // `markRecorded` changes it, and notes that in the session's log
      })
      .onConflict((conflict) => conflict.column('session_id').doNothing())
      .execute()
  }

  /** Notes in the session's log that it is recorded. */
  async function markRecorded(
    tx: Tx,
    sessionId: string,
    recording: {
      id: string
      mode: string
      paused_reason: string | null
      /** Undefined for the rest of a session that is over, or not recorded any more. */
      wanted: Exclude<RecordingMode, 'off'> | undefined
    },
  ): Promise<void> {
    const { id, mode, paused_reason, wanted } = recording
    if (wanted === undefined || (paused_reason !== 'off' && mode === wanted)) return
    await tx.db
      .updateTable('recordings')
      .set({ mode: wanted, ended_at: null, ...(paused_reason === 'off' && { paused_reason: null }) })
      .where('id', '=', id)
      .execute()
    const details = { recording_id: id, mode: wanted }
    await appendNote(tx, sessionId, { type: 'recording.started', at: now(), details })
  }

  return {
    /** Opens a stream. An earlier stream of the same source cannot add segments any more. */
    openStream: (request: OpenStreamRequest): Promise<OpenStreamResult> =>
      transact(async (tx) => {
        const { streamId, sessionId, source, nodeId, atMs } = request
        const recording = await recordingFor(tx, request)
        if (typeof recording === 'string')
          return { refused: recording, retryAfterMs: recording === 'session_over' ? null : 1_000 }
        if (await quota.isExceeded(tx.db, recording.client_id))
          return { refused: 'quota_exceeded', retryAfterMs: QUOTA_RETRY_MS }
        await tx.db
          .updateTable('recording_streams')
          .set({ closed_at: now() })
          .where('recording_id', '=', recording.id)
          .where('source', '=', source)
          .where('closed_at', 'is', null)
          .execute()
        const ids = { id: streamId, recording_id: recording.id }
        await tx.db
          .insertInto('recording_streams')
          .values({ ...ids, source, node_id: nodeId, opened_at: new Date(atMs) })
          .execute()
        await endOpenGaps(tx, recording.id, source, request)
        await markRecorded(tx, sessionId, recording)
        return { recordingId: recording.id, durableUpToMs: await durableUpTo(tx, recording.id, source) }
      }),

    /** Records a segment. The result is why it does not count, if it does not. */
    addSegment: (segment: NewSegment): Promise<'added' | 'stream_closed' | 'quota_exceeded'> =>
      transact(async (tx) => {
        const { streamId, recordingId, number, fromMs, lastMs, messages, sizeBytes, sha256 } = segment
        const recording = await tx.db
          .updateTable('recordings')
          .set((eb) => ({ size_bytes: eb('size_bytes', '+', sizeBytes), segments: eb('segments', '+', 1) }))
          .where('id', '=', recordingId)
          .where('status', '=', 'RECORDING')
          .where((eb) =>
            eb.exists(
              eb
                .selectFrom('recording_streams')
                .select('id')
                .where('id', '=', streamId)
                .where('recording_id', '=', recordingId)
                .where('closed_at', 'is', null),
            ),
          )
          .returning('client_id')
          .executeTakeFirst()
        if (!recording) return 'stream_closed'
        await tx.db
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
          .execute()
        return (await quota.isExceeded(tx.db, recording.client_id)) ? 'quota_exceeded' : 'added'
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
          .returning(['recording_id', 'source'])
          .executeTakeFirst()
        if (!stream) return
        const { recording_id, source } = stream
        if (end.gap) {
          const { fromMs, reason } = end.gap
          await tx.db
            .insertInto('recording_gaps')
            .values({ recording_id, source, reason, from_at: new Date(fromMs) })
            .execute()
        }
        if (source === 'gateway') await noteStopped(tx, recording_id)
      }),

    /** Records a period that is missing. */
    async addGap(
      recordingId: string,
      gap: { source: string; fromMs: number; toMs: number; reason: GapReason },
    ) {
      const { source, fromMs, toMs, reason } = gap
      const from_at = new Date(Math.floor(fromMs))
      await db
        .insertInto('recording_gaps')
        .columns(['recording_id', 'source', 'from_at', 'to_at', 'reason'])
        .expression((eb) =>
          eb
            .selectFrom('recordings')
            .select((column) => [
              'recordings.id',
              column.val(source).as('source'),
              sql<Date>`${from_at}::timestamptz`.as('from_at'),
              sql<Date>`${new Date(Math.max(Math.ceil(toMs), from_at.getTime()))}::timestamptz`.as('to_at'),
              column.val<string>(reason).as('reason'),
            ])
            .where('recordings.id', '=', recordingId),
        )
        .execute()
    },

    /** Notes that nothing can be recorded, or that it can again. Participants of the session see it. */
    setPaused: (recordingId: string, reason: GapReason | null): Promise<void> =>
      transact(async (tx) => {
        const changed = await tx.db
          .updateTable('recordings')
          .set({ paused_reason: reason })
          .where('id', '=', recordingId)
          .where('status', '=', 'RECORDING')
          .where((eb) => eb.or([eb('paused_reason', 'is', null), eb('paused_reason', '<>', 'off')]))
          .where('paused_reason', 'is distinct from', reason)
          .returning(['session_id', 'mode'])
          .executeTakeFirst()
        if (!changed) return
        const details = { recording_id: recordingId, mode: changed.mode }
        await appendNote(tx, changed.session_id, {
          type: reason === null ? 'recording.resumed' : 'recording.paused',
          at: now(),
          details,
          ...(reason !== null && { reason, notifies: true }),
        })
      }),
  }

  /** Notes in the log of an open session that it is not recorded any more, if its owner has turned that off. */
  async function noteStopped(tx: Tx, recordingId: string): Promise<void> {
    const stopped = await tx.db
      .updateTable('recordings')
      .from('robots')
      .set({ paused_reason: 'off' })
      .where('recordings.id', '=', recordingId)
      .whereRef('robots.id', '=', 'recordings.robot_id')
      .where('robots.recording', '=', 'off')
      .where('recordings.paused_reason', 'is distinct from', 'off')
      .returning(['recordings.session_id', 'recordings.mode'])
      .executeTakeFirst()
    if (!stopped) return
    const details = { recording_id: recordingId, mode: stopped.mode }
    await appendNote(tx, stopped.session_id, { type: 'recording.stopped', at: now(), details })
  }
}
export type RecordingStreams = ReturnType<typeof createRecordingStreams>

/** Ends the gap that the end of an earlier stream began. A source that sends everything again has none. */
async function endOpenGaps(
  tx: Tx,
  recordingId: string,
  source: string,
  { resumes, atMs }: OpenStreamRequest,
): Promise<void> {
  const openGaps = { recording_id: recordingId, source }
  if (resumes)
    await tx.db
      .deleteFrom('recording_gaps')
      .where((eb) => eb.and(openGaps))
      .where('to_at', 'is', null)
      .execute()
  else
    await tx.db
      .updateTable('recording_gaps')
      .set({ to_at: sql`greatest(from_at, ${new Date(atMs)}::timestamptz)` })
      .where((eb) => eb.and(openGaps))
      .where('to_at', 'is', null)
      .execute()
}

async function durableUpTo(tx: Pick<Tx, 'db'>, recordingId: string, source: string): Promise<number> {
  const row = await tx.db
    .selectFrom('recording_segments as segment')
    .innerJoin('recording_streams as stream', 'stream.id', 'segment.stream_id')
    .select(({ fn }) => fn.max('segment.last_ms').as('last_ms'))
    .where('segment.recording_id', '=', recordingId)
    .where('stream.source', '=', source)
    .executeTakeFirst()
  return (row?.last_ms as number | null | undefined) ?? 0
}
