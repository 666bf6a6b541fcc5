import { sql } from 'kysely'
import pTimeout from 'p-timeout'
import { z } from 'zod'
import type { Db } from '../../../core/database/tables.ts'
import { errorHeader } from '../../../core/errors/errors.ts'
import { type Endpoint, endpoint } from '../../../core/http/endpoint.ts'
import { timestamp } from '../../../core/http/fields.ts'

const CHECK_LIMIT_MS = 2_000

const word = z.enum(['ok', 'error'])
const Health = z
  .object({
    status: word.meta({ description: 'error when the database check fails.' }),
    db: word,
    timestamp,
  })
  .meta({ id: 'Health', description: 'Whether the API and its database work.' })

/** Returns whether the database responds within two seconds. */
export async function isDatabaseReachable(db: Db): Promise<boolean> {
  try {
    await pTimeout(sql`select 1`.execute(db), { milliseconds: CHECK_LIMIT_MS })
    return true
  } catch {
    return false
  }
}

/** Declares GET /api/health: 200, or 503 with the same shape when the database does not respond. */
export function healthEndpoint(deps: { db: Db; now: () => Date }): Endpoint {
  return endpoint({
    method: 'get',
    path: '/api/health',
    summary: 'Returns the health of the API and its database connection',
    access: 'public',
    response: [200, Health],
    otherResponses: { 503: ['when the database does not respond', Health, 'database_unavailable'] },
    run: async ({ http }) => {
      const ok = await isDatabaseReachable(deps.db)
      if (!ok) {
        http.status = 503
        http.set(errorHeader('database_unavailable'))
      }
      const state = ok ? ('ok' as const) : ('error' as const)
      return { status: state, db: state, timestamp: deps.now().toISOString() }
    },
  })
}
