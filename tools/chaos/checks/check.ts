import type { Client } from 'pg'
import type { Evidence } from '../evidence.ts'

/** What the checks look at, once everything has settled. */
export interface Environment {
  readonly db: Pick<Client, 'query'>
  readonly evidence: Evidence
  /** The robots as they really are: connected, or switched off. */
  readonly robots: readonly { readonly id: string; readonly connected: boolean }[]
  /** What people at the hub were shown last: status by robot. */
  readonly boards: readonly { readonly who: string; readonly robots: ReadonlyMap<string, string> }[]
}

/** One invariant: what of it does not hold, in words; nothing when all is well. */
export interface Check {
  readonly name: string
  run(environment: Environment): Promise<string[]>
}

/** The rows of a query, one line each; for queries that find what must not be. */
export async function offending(
  db: Environment['db'],
  sql: string,
  describeRow: (row: Record<string, unknown>) => string,
): Promise<string[]> {
  const { rows } = await db.query<Record<string, unknown>>(sql)
  return rows.map(describeRow)
}
