import { sql } from 'kysely'
import type { Tx } from '../../core/events/transactor.ts'
import { hasActiveOwner } from './active-owner.ts'
import { markDue } from './delivery-queue.ts'
import { filterMatchesSql } from './event-filter-sql.ts'

/** The newly stored events of a user: all with a higher number than `before`. */
export interface StoredRange {
  readonly user_id: string
  readonly before: number
}

/**
 * Enqueues new events for the webhooks that subscribe to them, in the transaction that stored them. It first locks the
 * webhooks' rows in the order of their ids, so that disabling a webhook runs either before it or sees its deliveries.
 */
export async function addDeliveries(tx: Tx, stored: readonly StoredRange[], at: Date): Promise<void> {
  const users = stored.map(({ user_id }) => user_id)
  const webhooks = await tx.db
    .selectFrom('webhooks')
    .select('id')
    .where('user_id', '=', sql<string>`any(${users}::uuid[])`)
    .where('enabled', '=', true)
    .where(hasActiveOwner)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute()
  if (webhooks.length === 0) return
  const ids = webhooks.map(({ id }) => id)
  const { rows: added } = await sql<{ webhook_id: string }>`
    with added as (
      insert into webhook_deliveries
        (id, webhook_id, event_id, seq, type, data, occurred_at, created_at, next_attempt_at)
      select gen_random_uuid(), w.id, e.id, e.seq, e.type, e.data, e.created_at, ${at}::timestamptz, ${at}::timestamptz
      from unnest(${users}::uuid[], ${stored.map(({ before }) => before)}::bigint[]) as s (user_id, before)
        join user_events e on e.user_id = s.user_id and e.seq > s.before
        join webhooks w on w.user_id = e.user_id and w.id = any(${ids}::uuid[])
      where ${filterMatchesSql(sql`w.types`, sql`e.type`)}
      order by e.seq
      returning webhook_id
    )
    select distinct webhook_id from added`.execute(tx.db)
  if (added.length === 0) return
  const due = added.map(({ webhook_id }) => webhook_id)
  await markDue(tx, sql`select unnest(${due}::uuid[])`, at)
}
