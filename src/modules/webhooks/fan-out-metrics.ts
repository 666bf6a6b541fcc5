import { sql } from 'kysely'
import pTimeout from 'p-timeout'
import type { Db } from '../../core/database/tables.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'

const MEASURE_TIMEOUT_MS = 1_000
/** Maximum number of rows that are counted. */
const COUNT_LIMIT = 100_000

/** Registers gauges of the fan-out and delivery backlog. It omits them while the database does not respond. */
export function registerFanOutMetrics(
  metrics: Metrics,
  deps: { db: Db; now: () => Date; longPolling: { readonly waitingRequests: number } },
): void {
  const { db, now, longPolling } = deps
  const measure = async () => {
    try {
      return await pTimeout(readBacklog(db, now()), { milliseconds: MEASURE_TIMEOUT_MS })
    } catch {
      return undefined
    }
  }
  /** All gauges of a response and concurrent responses share a query. */
  let measuring: ReturnType<typeof measure> | undefined
  const backlog = () => {
    measuring ??= measure().finally(() => {
      measuring = undefined
    })
    return measuring
  }
  const { gauge } = metrics
  gauge(
    'wheelhouse_long_polls',
    'Requests of this process that wait for events',
    () => longPolling.waitingRequests,
  )
  gauge(
    'wheelhouse_outbound_events',
    `Domain events that wait for the fan-out (counted up to ${COUNT_LIMIT})`,
    async () => {
      return (await backlog())?.events
    },
  )
  gauge(
    'wheelhouse_outbound_lag_seconds',
    'Age of the oldest domain event that waits for the fan-out',
    async () => {
      return (await backlog())?.lag
    },
  )
  gauge('wheelhouse_webhooks_due', 'Webhooks with due deliveries', async () => (await backlog())?.due)
  gauge('wheelhouse_webhook_lag_seconds', 'Time since the earliest webhook became due', async () => {
    return (await backlog())?.webhook_lag
  })
}

async function readBacklog(db: Db, at: Date) {
  const { rows } = await sql<{ events: number; lag: number; due: number; webhook_lag: number }>`
    select events, coalesce(lag, 0)::float8 as lag, due, coalesce(webhook_lag, 0)::float8 as webhook_lag from
      (select count(*)::int as events from (select from outbound_events limit ${COUNT_LIMIT}) as counted) as e,
      (select greatest(0, extract(epoch from now() - min(created_at))) as lag
        from (select created_at from outbound_events order by id limit 1) as first) as l,
      (select count(*)::int as due, extract(epoch from ${at}::timestamptz - min(due_at)) as webhook_lag from webhooks
        where due_at <= ${at}::timestamptz and (paused_until is null or paused_until <= ${at}::timestamptz)) as w
  `.execute(db)
  return rows[0]
}
