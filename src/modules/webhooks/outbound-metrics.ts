import { sql } from 'kysely'
import { within } from '../../core/concurrency/async.ts'
import type { Db } from '../../core/database/tables.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'

const LOOK_LIMIT_MS = 1_000
/** Rows are counted no further than this. */
const COUNT_LIMIT = 100_000

/** What waits to be dealt out and to be delivered; left out while the database does not answer. */
export function measureOutbound(
  metrics: Metrics,
  parts: { db: Db; now: () => Date; eventWaits: { readonly waiting: number } },
): void {
  const { db, now, eventWaits } = parts
  const look = async () => {
    try {
      return await within(LOOK_LIMIT_MS, 'outbound events not looked at in time', readBacklog(db, now()))
    } catch {
      return undefined
    }
  }
  /** One look serves all gauges of an answer, and everybody who asks meanwhile. */
  let looking: ReturnType<typeof look> | undefined
  const backlog = () => {
    looking ??= look().finally(() => {
      looking = undefined
    })
    return looking
  }
  const { gauge } = metrics
  gauge('wheelhouse_event_waits', 'Requests of this process that wait for events', () => eventWaits.waiting)
  gauge('wheelhouse_outbound_facts', `Facts to be dealt out (counted up to ${COUNT_LIMIT})`, async () => {
    return (await backlog())?.facts
  })
  gauge('wheelhouse_outbound_lag_seconds', 'Age of the oldest fact to be dealt out', async () => {
    return (await backlog())?.lag
  })
  gauge(
    'wheelhouse_webhooks_due',
    'Webhooks with deliveries that are due',
    async () => (await backlog())?.due,
  )
  gauge('wheelhouse_webhook_lag_seconds', 'For how long the first of these has been due', async () => {
    return (await backlog())?.webhook_lag
  })
}

async function readBacklog(db: Db, at: Date) {
  const { rows } = await sql<{ facts: number; lag: number; due: number; webhook_lag: number }>`
    select facts, coalesce(lag, 0)::float8 as lag, due, coalesce(webhook_lag, 0)::float8 as webhook_lag from
      (select count(*)::int as facts from (select from outbound_facts limit ${COUNT_LIMIT}) as counted) as f,
      (select greatest(0, extract(epoch from now() - min(created_at))) as lag
        from (select created_at from outbound_facts order by id limit 1) as first) as l,
      (select count(*)::int as due, extract(epoch from ${at}::timestamptz - min(due_at)) as webhook_lag from webhooks
        where due_at <= ${at}::timestamptz and (paused_until is null or paused_until <= ${at}::timestamptz)) as w
  `.execute(db)
  return rows[0]
}
