import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'

const FOLLOW_MS = 20
/** How far the database may differ from a running clock of a test before it follows. */
const TOLERANCE_MS = 100

const INSTALL = `
drop table if exists pgboss.test_clock;
create table pgboss.test_clock (ahead interval not null, stopped_at timestamptz);
insert into pgboss.test_clock values ('0');
create or replace function pgboss.job_now() returns timestamptz language sql stable as $$
  select coalesce(stopped_at, pg_catalog.now() + ahead) from pgboss.test_clock
$$`

const RESTORE = `
create or replace function pgboss.job_now() returns timestamptz language sql stable as $$
  select pg_catalog.now()
$$;
drop table pgboss.test_clock`

/** Returns whether a clock only moves when the test moves it. */
async function isStopped(now: () => Date): Promise<boolean> {
  const before = now().getTime()
  await delay(5)
  return now().getTime() === before
}

/** Lets the job engine read the test's clock: pg-boss compares the start of a job with `job_now()` of the database. */
export async function startJobClock(databaseUrl: string, now: () => Date) {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query(INSTALL)
  const stopped = await isStopped(now)
  let closed = false
  let stored = Number.NaN
  let storing: Promise<unknown> = Promise.resolve()

  /** Stores the time of a stopped clock, or how far a running clock is ahead. */
  async function follow(toleranceMs: number): Promise<void> {
    const wanted = stopped ? now().getTime() : now().getTime() - Date.now()
    if (Math.abs(wanted - stored) > (stopped ? 0 : toleranceMs) || Number.isNaN(stored)) {
      stored = wanted
      storing = stopped
        ? client.query('update pgboss.test_clock set stopped_at = $1', [new Date(wanted)])
        : client.query(`update pgboss.test_clock set ahead = $1::float8 * interval '1 ms'`, [wanted])
    }
    await storing
  }

  await follow(0)
  const timer = setInterval(() => void follow(TOLERANCE_MS).catch(() => {}), FOLLOW_MS)
  return {
    /** Sets the clock of the jobs to the test's clock. */
    sync: () => follow(10),
    /** Gives the jobs the clock of the database again. */
    async close(): Promise<void> {
      if (closed) return
      closed = true
      clearInterval(timer)
      await storing
      await client.query(RESTORE)
      await client.end()
    },
  }
}
