import type { GapReason } from '@wheelhouse/protocol'
import { sql } from 'kysely'
import type { Tx } from '../../core/events/transactor.ts'

// The gaps of sources whose streams are refused, so that a recording names what they could not store.

const RECORDER_LOST: GapReason = 'recorder_lost'

/** Begins a gap of a source that is refused, unless one lasts already. The next stream of the source ends it. */
export async function beginGap(
  tx: Tx,
  recordingId: string,
  { source, atMs, reason }: { source: string; atMs: number; reason: GapReason },
): Promise<void> {
  await sql`
    insert into recording_gaps (recording_id, source, from_at, reason)
    select ${recordingId}::uuid, ${source}, ${new Date(Math.floor(atMs))}::timestamptz, ${reason}
    where not exists (
      select from recording_gaps
      where recording_id = ${recordingId}::uuid and source = ${source} and to_at is null)`.execute(tx.db)
}

/**
 * Records the gap of a source that reaches a recorder only after the recording was finished. It has stored nothing since its last stream
 * ended.
 */
export async function noteLateSource(
  tx: Tx,
  { sessionId, source }: { sessionId: string; source: string },
): Promise<void> {
  await sql`
    insert into recording_gaps (recording_id, source, from_at, to_at, reason)
    select r.id, ${source}, begin.at, greatest(begin.at, r.ended_at), ${RECORDER_LOST}
    from recordings r, lateral (
      select coalesce((
        select max(m.closed_at) from recording_streams m where m.recording_id = r.id and m.source = ${source}
      ), r.started_at) as at
    ) begin
    where r.session_id = ${sessionId} and r.status <> 'RECORDING' and r.ended_at is not null`.execute(tx.db)
}
