import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { applyMigrations } from '../../src/app/database/migrations.ts'
import { connectOrm } from '../../src/app/database/orm.ts'
import { startEmbeddedPostgres } from '../../src/core/database/embedded.ts'
import { type Children, createChildren } from './children.ts'
import { startRedis } from './redis.ts'
import { type Seeded, seed } from './seed.ts'
import { createStores, type Stores } from './stores.ts'

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
