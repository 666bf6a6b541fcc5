import type { GapReason } from '@wheelhouse/protocol'
import { sql } from 'kysely'
import type { CoreServices } from '../../core/core-services.ts'
import type { Tx } from '../../core/events/transactor.ts'
import { FINISH_RECORDINGS } from './finish-queue.ts'
import type { RecorderNodes } from './recorder-nodes.store.ts'

/** How long after its session a recording is finished at the earliest, so that the ends of streams arrive. */
const SETTLE_SECONDS = 1
/** How long a source that lost its recorder may take to store the rest of its stream elsewhere. */
const RESUME_SECONDS = 20
/** How long after its session a recording waits for streams that are still open. */
const LONGEST_WAIT_SECONDS = 120
const RECORDER_LOST: GapReason = 'recorder_lost'
const STORAGE_UNAVAILABLE: GapReason = 'storage_unavailable'
const PER_RUN = 200

/** Ends streams whose recorder is gone, and begins to finish the recordings of sessions that are over. */
export function createRecordingSweep(
  deps: Pick<CoreServices, 'transact' | 'now'> & { nodes: Pick<RecorderNodes, 'removeExpired'> },
) {
  const { transact, now, nodes } = deps

  /** Closes the streams of recorders that have no row. Records that they had not stored are missing, unless their source resumes. */
  const endLostStreams = (): Promise<void> =>
    transact(async (tx) => {
      await sql`
        with lost as (
          update recording_streams s set closed_at = ${now()}::timestamptz
          where s.closed_at is null and not exists (select from recorder_nodes n where n.id = s.node_id)
          returning s.id, s.recording_id, s.source, s.origin_id, s.opened_at
        )
        insert into recording_gaps (recording_id, source, origin_id, from_at, to_at, reason)
        select l.recording_id, l.source, l.origin_id, begin.at, (
            select min(m.opened_at) from recording_streams m
            where m.recording_id = l.recording_id and m.source = l.source and m.origin_id <> l.origin_id
              and m.opened_at >= begin.at),
          ${RECORDER_LOST}
        from lost l, lateral (
          select coalesce((select max(g.to_at) from recording_segments g where g.stream_id = l.id), l.opened_at) as at
        ) begin`.execute(tx.db)
    })

  /** Closes the streams that are still open after the longest wait. Records that they had not stored are missing. */
  const endOverdueStreams = async (tx: Tx, recordingIds: readonly string[]): Promise<void> => {
    if (recordingIds.length === 0) return
    await sql`
      with overdue as (
        update recording_streams s set closed_at = ${now()}::timestamptz
        where s.closed_at is null and s.recording_id = any(${sql.val([...recordingIds])}::uuid[])
        returning s.id, s.recording_id, s.source, s.origin_id, s.opened_at
      )
      insert into recording_gaps (recording_id, source, origin_id, from_at, reason)
      select o.recording_id, o.source, o.origin_id,
        coalesce((select max(g.to_at) from recording_segments g where g.stream_id = o.id), o.opened_at),
        ${STORAGE_UNAVAILABLE}
      from overdue o`.execute(tx.db)
  }

  /** Marks recordings whose sessions are over and whose streams have ended, and creates the jobs that merge their segments. */
  const beginFinishing = (): Promise<void> =>
    transact(async (tx) => {
      const at = now()
      const { rows } = await sql<{ id: string }>`
        with due as (
          select r.id, s.ended_at as session_ended_at
          from recordings r join sessions s on s.id = r.session_id
          where r.status = 'RECORDING' and s.status in ('COMPLETED', 'CANCELLED')
            and s.ended_at <= ${at}::timestamptz - make_interval(secs => ${SETTLE_SECONDS})
            and (
              s.ended_at <= ${at}::timestamptz - make_interval(secs => ${LONGEST_WAIT_SECONDS})
              or (
                not exists (select from recording_streams m where m.recording_id = r.id and m.closed_at is null)
                and not exists (
                  select from recording_gaps g
                  where g.recording_id = r.id and g.origin_id is not null and g.reason = 'recorder_lost'
                    and s.ended_at > ${at}::timestamptz - make_interval(secs => ${RESUME_SECONDS})
                )
              )
            )
          order by r.id limit ${PER_RUN}
          for update of r skip locked
        )
        update recordings r set
          status = 'FINISHING',
          paused_reason = null,
          ended_at = case
            when exists (select from recording_gaps g where g.recording_id = r.id and g.to_at is null)
              or exists (select from recording_streams m where m.recording_id = r.id and m.closed_at is null)
            then due.session_ended_at
            else greatest(r.started_at, least(due.session_ended_at, coalesce(
              (select max(g.to_at) from recording_segments g where g.recording_id = r.id), due.session_ended_at)))
          end,
          expires_at = (
            select ${at}::timestamptz + make_interval(days => robots.recording_days)
            from robots where robots.id = r.robot_id)
        from due where r.id = due.id and r.status = 'RECORDING'
        returning r.id`.execute(tx.db)
      await endOverdueStreams(
        tx,
        rows.map(({ id }) => id),
      )
      for (const { id } of rows) tx.enqueue({ queue: FINISH_RECORDINGS, data: { recordingId: id } })
    })

  return {
    /** Call it about once a second. */
    async run(): Promise<void> {
      await nodes.removeExpired()
      await endLostStreams()
      await beginFinishing()
    },
  }
}
