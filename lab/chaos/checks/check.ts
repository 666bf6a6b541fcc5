import type { Client } from 'pg'
import type { Evidence } from '../evidence.ts'
import type { StoredRecordings } from '../recordings.ts'

/** Input of the checks, after the platform has settled. */
export interface Environment {
  readonly db: Pick<Client, 'query'>
  readonly evidence: Evidence
  /** The true state of the robots: connected, or switched off. */
  readonly robots: readonly { readonly id: string; readonly connected: boolean }[]
  /** Undefined if nothing was recorded. */
  readonly recordings?: StoredRecordings
  /** The last status that each user of the hub received, by robot. */
  readonly boards: readonly { readonly who: string; readonly robots: ReadonlyMap<string, string> }[]
}

/** One invariant: returns a description of each violation; nothing when it holds. */
export interface Check {
  readonly name: string
  run(environment: Environment): Promise<string[]>
}

/** Returns one line per row of a query; for queries that find violations. */
export async function offending(
  db: Environment['db'],
  sql: string,
  describeRow: (row: Record<string, unknown>) => string,
): Promise<string[]> {
  const { rows } = await db.query<Record<string, unknown>>(sql)
  return rows.map(describeRow)
}
