import type { Client } from 'pg'
import type { Statement } from './statements.ts'

/** A node of a plan, as PostgreSQL explains it. Rows are averages of the loops. */
interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly Plans?: readonly PlanNode[]
}

/** Returns how many rows of tables the node and its children read. Index-only scans read none. */
function rowsOf(node: PlanNode): number {
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)
  const isScan = node['Relation Name'] !== undefined && node['Node Type'] !== 'Index Only Scan'
  const own = isScan ? (node['Actual Rows'] + removed) * node['Actual Loops'] : 0
  return (node.Plans ?? []).reduce((sum, child) => sum + rowsOf(child), own)
}

/** Runs queries again, and returns how many rows of tables each of them reads. */
export async function scannedRows(sql: Client, statements: readonly Statement[]): Promise<number[]> {
  const counts: number[] = []
  for (const { text, values } of statements) {
    const { rows } = await sql.query(`explain (analyze, format json) ${text}`, [...values])
    counts.push(rowsOf(rows[0]['QUERY PLAN'][0].Plan))
  }
  return counts
}
