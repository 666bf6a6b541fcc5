import type { Kysely } from 'kysely'
import type { Pool } from 'pg'
import { type Db as BossDb, type ConstructorOptions, fromKysely, PgBoss } from 'pg-boss'
import type { Log } from '../log.ts'

/** The PostgreSQL schema of pg-boss. The migrations install it. */
export const JOB_SCHEMA = 'pgboss'

/** How often abandoned jobs are looked for. A job also needs to miss its heartbeats before it counts as abandoned. */
const SUPERVISE_SECONDS = 10
const MAINTENANCE_SECONDS = 60
/** Dependencies between jobs are not used. */
const FLOW_SECONDS = 3_600

/** Creates pg-boss over the connections of the platform. Only workers look for abandoned jobs and create scheduled ones. */
export function createBoss(deps: { pool: () => Promise<Pool>; log: Log; supervise: boolean }): PgBoss {
  const db: BossDb = {
    executeSql: async (text, values) => await (await deps.pool()).query(text, values),
  }
  const options: ConstructorOptions = {
    db,
    schema: JOB_SCHEMA,
    migrate: false,
    createSchema: false,
    supervise: deps.supervise,
    schedule: deps.supervise,
    superviseIntervalSeconds: SUPERVISE_SECONDS,
    monitorIntervalSeconds: SUPERVISE_SECONDS,
    maintenanceIntervalSeconds: MAINTENANCE_SECONDS,
    flowIntervalSeconds: FLOW_SECONDS,
    // It would exceed the time limit of the platform's queries. Autovacuum is enough for tables that stay small.
    reindex: false,
  }
  const boss = new PgBoss(options)
  boss.on('error', (cause) => deps.log.warn({ err: cause }, 'the job engine reported an error'))
  boss.on('warning', ({ message, data }) => deps.log.warn({ data }, message))
  return boss
}

/** Lets pg-boss run its statements in a transaction of the query builder. */
export const inTransaction = <Tables>(trx: Kysely<Tables>): BossDb => fromKysely(trx as never)
