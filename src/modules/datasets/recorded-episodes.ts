import { sql } from 'kysely'
import type { Tx } from '../../core/events/transactor.ts'

/**
 * Connects the episodes of a session with its finished recording, in the transaction that completes it, while its segments are still
 * listed. Marked episodes get their share of the recorded bytes, which count as collected data.
 */
export async function connectRecording(tx: Tx, recording: { id: string; session_id: string }): Promise<void> {
  const { id, session_id } = recording
  // The order in which all transactions lock datasets and sessions.
  await sql`
    select from datasets where id in (select dataset_id from episodes where session_id = ${session_id})
    order by id for no key update`.execute(tx.db)
  await sql`
    with shares as (
      select e.id, coalesce(sum(
        g.size_bytes * greatest(0, extract(epoch from least(g.to_at, e.ended_at) - greatest(g.from_at, e.started_at)))
          / greatest(0.001, extract(epoch from g.to_at - g.from_at))), 0)::bigint as bytes
      from episodes e
        left join recording_segments g
          on g.recording_id = ${id} and g.to_at >= e.started_at and g.from_at <= e.ended_at
      where e.session_id = ${session_id} and e.source = 'platform'
      group by e.id
    ), changed as (
      update episodes e set
        recording_id = ${id},
        size_bytes = case when e.source = 'platform' then (select bytes from shares s where s.id = e.id) else e.size_bytes end
      where e.session_id = ${session_id}
      returning e.dataset_id, e.session_id, case when e.source = 'platform' then e.size_bytes else 0 end as added
    ), sessions_counted as (
      update sessions s set data_collected_bytes =
        least(s.data_collected_bytes + sums.bytes, ${Number.MAX_SAFE_INTEGER}::bigint)
      from (select session_id, sum(added) as bytes from changed group by session_id) sums
      where s.id = sums.session_id
    )
    update datasets d set size_bytes = least(d.size_bytes + sums.bytes, ${Number.MAX_SAFE_INTEGER}::bigint)
    from (select dataset_id, sum(added) as bytes from changed group by dataset_id) sums
    where d.id = sums.dataset_id`.execute(tx.db)
}
