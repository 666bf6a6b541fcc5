import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { applyMigrations } from '../../src/app/database/migrations/apply-migrations.ts'
import { connectOrm } from '../../src/app/database/orm.ts'
import { waitUntil } from '../../src/core/concurrency/concurrency.ts'
import { startEmbeddedPostgres } from '../../src/core/database/embedded.ts'
import { freePort } from '../../src/core/database/embedded-postmaster.ts'
import { type Child, type Children, createChildren } from '../../test/support/processes/children.ts'
import { findProgram, redisAnswers } from '../../test/support/programs/installed-programs.ts'
import { type Seeded, seed } from './seed.ts'

/** The lab's own PostgreSQL and Redis, as processes. */
interface Stores {
  /** Pauses both: connections stay open and nothing is answered, as by a machine that hangs. */
  block(): Promise<void>
  /** Resumes both. Safe to call at any time, and more than once. */
  release(): void
}

/** Sends signals to the processes that the lab has started, including PostgreSQL's backends. */
function createStores(db: Client, redisPid: number | undefined): Stores {
  let held: number[] = []
  const signal = (name: 'SIGSTOP' | 'SIGCONT') => {
    for (const pid of held) {
      try {
        process.kill(pid, name)
      } catch {
        // The backend has ended.
      }
    }
  }
  return {
    async block() {
      // The first line of the file is the process that starts all others: paused first, so that it starts no more.
      const { rows } = await db.query<{ pid: number }>(
        `select split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int as pid
         union all select pid from pg_stat_activity`,
      )
      held = [...rows.map((row) => row.pid), ...(redisPid === undefined ? [] : [redisPid])]
      signal('SIGSTOP')
    },
    release() {
      signal('SIGCONT')
      held = []
    },
  }
}

const START_LIMIT_MS = 180_000

/** Starts a Redis for the benchmark; returns undefined when none is installed. */
async function startRedis(children: Children): Promise<{ url: string; child: Child } | undefined> {
  const program = findProgram('redis-server')
  if (!program) return undefined
  const port = await freePort()
  const flags = ['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--appendonly', 'no']
  const child = children.program(program, flags)
  let ended = false
  child.ended.then(() => {
    ended = true
  })
  const ready = await waitUntil(async () => ended || (await redisAnswers(port)), START_LIMIT_MS)
  if (ready && !ended) return { url: `redis://127.0.0.1:${port}`, child }
  throw new Error(`redis-server did not start:\n${child.output()}`)
}

/** The environment of all measurements: PostgreSQL with robots, Redis, and processes. */
export interface Lab extends Seeded {
  readonly dataDir: string
  readonly databaseUrl: string
  readonly postgresVersion: string
  /** Undefined when redis-server is not installed. */
  readonly redisUrl: string | undefined
  /** Pauses the processes of PostgreSQL and Redis. */
  readonly stores: Stores
  /** The benchmark's own connection, for queries. */
  readonly db: Client
  readonly children: Children
  /** Ends every process and removes every file. Safe to call twice, and at any moment. */
  close(): Promise<void>
}

/** Opens the lab step by step; closes the opened parts when a later step fails. */
export async function openLab(robotCount: number, onClosable: (close: Lab['close']) => void): Promise<Lab> {
  const children = createChildren()
  const closers: (() => Promise<unknown>)[] = [() => children.stopAll()]
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= closeAll(closers)
    return closing
  }
  onClosable(close)

  const dataDir = await mkdtemp(join(tmpdir(), 'wheelhouse-bench-'))
  closers.unshift(() => rm(dataDir, { recursive: true, force: true }))
  const postgres = await startEmbeddedPostgres({
    dataDir: join(dataDir, 'postgres'),
    durable: true,
    log() {},
  })
  closers.splice(1, 0, () => postgres.stop())
  const databaseUrl = postgres.url
  const orm = await connectOrm({ url: databaseUrl, poolSize: 2, applicationName: 'wheelhouse-bench' })
  await applyMigrations(orm, databaseUrl).finally(() => orm.close(true))
  const redis = await startRedis(children)

  const db = new Client({ connectionString: databaseUrl })
  await db.connect()
  db.on('error', () => {}) // the running query reports it
  closers.push(() => db.end())
  const { rows } = await db.query('show server_version')
  const stores = createStores(db, redis?.child.process.pid)
  closers.push(async () => stores.release())
  const seeded = await seed(db, robotCount)
  return {
    ...seeded,
    dataDir,
    databaseUrl,
    postgresVersion: String(rows[0].server_version),
    redisUrl: redis?.url,
    stores,
    db,
    children,
    close,
  }
}

/** Closes all parts, newest first, even if one fails. */
async function closeAll(closers: readonly (() => Promise<unknown>)[]): Promise<void> {
  for (const close of closers.toReversed()) {
    await close().catch((cause) => console.error(`not cleaned up: ${cause}`))
  }
}
