import { sql } from 'kysely'
import { z } from 'zod'
import type { Db } from '../../../core/database/tables.ts'
import { type Endpoint, endpoint } from '../../../core/http/endpoint.ts'

const CACHE_MS = 5_000
const MS_PER_HOUR = 3_600_000

const count = z.number().int()

const PublicStats = z
  .object({
    robots_total: count.meta({ description: 'Registered robots.', examples: [1_240] }),
    robots_online: count.meta({ description: 'Robots that are connected now.', examples: [318] }),
    sessions_active: count.meta({ description: 'Open sessions: ACTIVE or PAUSED.', examples: [87] }),
    sessions_completed: count.meta({ examples: [52_310] }),
    teleop_hours: z
      .number()
      .meta({ description: 'Hours of completed sessions, from start to end.', examples: [21_404.75] }),
    operators: count.meta({ description: 'Users with the operator role.', examples: [412] }),
    episodes_collected: count.meta({ examples: [618_204] }),
  })
  .meta({ id: 'PlatformStats', description: 'The public statistics of the platform.' })
export type PublicStats = z.infer<typeof PublicStats>

/** Returns a function that reads the public statistics at most every five seconds. */
export const createPublicStats = ({ db, now }: { db: Db; now: () => Date }) =>
  cached(() => readStats(db), now)

/** Declares the public statistics. Each process queries them at most every five seconds. */
export function statsEndpoint(deps: { db: Db; now: () => Date }): Endpoint {
  const current = createPublicStats(deps)
  return endpoint({
    method: 'get',
    path: '/api/stats',
    summary: 'Returns public platform statistics, at most five seconds old',
    access: 'public',
    response: [200, PublicStats],
    run: async ({ http }) => {
      const stats = await current()
      http.set('Cache-Control', 'public, max-age=5')
      return stats
    },
  })
}

/** Caches a result for five seconds. Concurrent callers share one query. */
function cached<T>(load: () => Promise<T>, now: () => Date): () => Promise<T> {
  let cachedEntry: { readonly value: T; readonly at: number } | undefined
  let loading: Promise<T> | undefined
  const reload = async () => {
    const at = now().getTime()
    const value = await load()
    cachedEntry = { value, at }
    return value
  }
  return () => {
    const age = cachedEntry ? now().getTime() - cachedEntry.at : Number.POSITIVE_INFINITY
    if (cachedEntry && age >= 0 && age < CACHE_MS) return Promise.resolve(cachedEntry.value)
    loading ??= reload().finally(() => {
      loading = undefined
    })
    return loading
  }
}

/**
 * Queries counts over partial indexes and the totals of the triggers, so that the cost does not grow with past
 * sessions.
 */
async function readStats(db: Db): Promise<PublicStats> {
  const { rows } = await sql<Record<keyof PublicStats | 'teleop_ms', string>>`
    select
      (select count(*) from robots where deleted_at is null) as robots_total,
      (select count(*) from robot_presence where connected) as robots_online,
      (select count(*) from sessions where status in ('ACTIVE', 'PAUSED')) as sessions_active,
      (select count(*) from users where is_operator) as operators,
      sum(completed) as sessions_completed,
      sum(teleop_ms) as teleop_ms,
      sum(episodes) as episodes_collected
    from session_totals`.execute(db)
  const [row] = rows
  if (!row) throw new Error('an aggregate without a row')
  return {
    robots_total: Number(row.robots_total),
    robots_online: Number(row.robots_online),
    sessions_active: Number(row.sessions_active),
    sessions_completed: Number(row.sessions_completed),
    teleop_hours: Math.round((Number(row.teleop_ms) / MS_PER_HOUR) * 1_000) / 1_000,
    operators: Number(row.operators),
    episodes_collected: Number(row.episodes_collected),
  }
}
