import { expect } from 'vitest'
import { connectOrm } from '../../../src/app/database/orm.ts'
import { waitFor } from '../world/wait.ts'
import { createTestDatabase } from './database.ts'
import { connectTo } from './sql.ts'

export type PlansDatabase = Awaited<ReturnType<typeof createPlansDatabase>>

/**
 * Creates a database for a test of query plans. The code under test uses `orm`, which has one connection; the test fills the tables
 * over `sql`.
 * @param tables the tables whose rows count as read
 */
export async function createPlansDatabase(tables: readonly string[]) {
  const database = await createTestDatabase()
  const sql = await connectTo(database.url)
  const orm = await connectOrm({ url: database.url, poolSize: 1, applicationName: 'plans-test' })
  const rowsSoFar = async () => {
    // Also the counts of the setup's connection, which would otherwise arrive up to ten seconds later.
    await sql.query('select pg_stat_force_next_flush()')
    await orm.em.getConnection().execute('select pg_stat_force_next_flush()')
    const { rows } = await sql.query<{ rows: number }>(
      `select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows
       from pg_stat_user_tables where relname = any($1)`,
      [tables],
    )
    return rows[0]?.rows ?? Number.NaN
  }
  return {
    sql,
    orm,

    /** Returns how many rows of the tables `work` reads, as PostgreSQL counts them. Index-only scans read none. */
    async rowsRead(work: () => Promise<unknown>): Promise<number> {
      const before = await rowsSoFar()
      await work()
      return (await rowsSoFar()) - before
    },

    /**
     * Updates the statistics of the tables, and marks all their pages as visible to all, as scans of only an index need. Repeats
     * it: the first run sets hint bits, and a snapshot of the automatic analysis keeps pages from being marked.
     */
    vacuum: () =>
      waitFor(async () => {
        await sql.query(`vacuum (analyze) ${tables.join(', ')}`)
        const { rows } = await sql.query(
          'select relname from pg_class where relname = any($1) and relallvisible < relpages',
          [tables],
        )
        expect(rows, 'tables with pages that are not visible to all').toEqual([])
      }),

    async [Symbol.asyncDispose]() {
      await orm.close(true)
      await sql[Symbol.asyncDispose]()
      await database.drop()
    },
  }
}
