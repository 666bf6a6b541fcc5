import type { GapReason } from '@wheelhouse/protocol'
import { sql } from 'kysely'
import type { CoreServices } from '../../core/core-services.ts'
import type { Db } from '../../core/database/tables.ts'
import type { Tx } from '../../core/events/transactor.ts'
import type { Quota } from './quota.ts'
import { createRecordingOfSession } from './recording-of-session.ts'
import { type AppendSessionNote, createRecordingState } from './recording-state.ts'
import { beginGap, noteLateSource } from './refused-sources.ts'
import { durableUpTo, hasSegment, insertSegment, type NewSegment } from './segment-rows.ts'
import { isContinued, type OpenStreamRequest } from './stream-request.ts'

/** A period that a source lacks. */
interface Gap {
  readonly source: string
  readonly fromMs: number
  readonly toMs: number
  readonly reason: GapReason
}

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

export type OpenStreamResult =
  /** Records up to `durableUpToMs` are stored already. */
  | { readonly recordingId: string; readonly durableUpToMs: number }
  | {
      readonly refused: 'session_over' | 'recording_off' | 'quota_exceeded' | 'stream_closed'
      readonly retryAfterMs: number | null
    }

const QUOTA_RETRY_MS = 30_000

/** Records streams, segments and gaps for recorders. Each statement is conditional: a recorder that stalled changes nothing late. */
export function createRecordingStreams(
  deps: Pick<CoreServices, 'db' | 'transact' | 'now'> & { quota: Quota; appendNote: AppendSessionNote },
) {
  const { db, transact, now, quota } = deps
  const state = createRecordingState(deps)
  const recordingFor = createRecordingOfSession(deps)

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
          await state.notBegun(tx, recording.id, 'quota_exceeded')
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
