import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { createDiskWatch, type DiskWatch } from '../core/database/disk-watch.ts'
import { startEmbeddedPostgres } from '../core/database/embedded.ts'
import { createMemoryBus } from '../core/events/bus.ts'
import { createRedisBus } from '../core/events/redis-bus.ts'
import type { Log } from '../core/log.ts'
import { dataDirProblem, openDataDir } from '../core/process/data-dir.ts'
import { connectKeyRedis, connectRedis, type HubRedis, isRedisCluster } from '../core/redis.ts'
import type { Config } from './config.ts'
import { applyMigrations } from './database/migrations.ts'
import { closeOrm, connectOrm, queries } from './database/orm.ts'

interface Deps {
  readonly log: Log
  readonly report: (cause: unknown) => void
  /** Registers a function that closes an opened resource. */
  readonly onClose: (close: () => Promise<unknown>) => void
  /** Called when the platform cannot continue: the embedded database is lost. */
  readonly fail: (cause: Error) => void
  /** Longest time that a request waits for Redis to count it. Default: 100 ms. Tests set another time. */
  readonly redisCommandMs?: number | undefined
}

/** Connects to the database, migrates its schema, and connects to Redis if it is configured. */
export async function openInfrastructure(config: Config, deps: Deps) {
  const needsDataDir = !config.databaseUrl || !config.secretKey || !config.idp
  if (needsDataDir) openDataDir(config.dataDir)
  const database = await openDatabase(config, deps)
  return { ...database, ...(await openRedis(config, deps)) }
}

async function openDatabase(config: Config, deps: Deps) {
  const { log, onClose } = deps
  const diskWatch = createDiskWatch(log)
  const databaseUrl = config.databaseUrl ?? (await openEmbedded(config.dataDir, deps, diskWatch))
  const orm = await connectOrm({
    url: databaseUrl,
    poolSize: config.databasePoolSize,
    applicationName: 'wheelhouse',
    onPoolCreated: diskWatch.attach,
  })
  onClose(() => closeOrm(orm))
  const applied = await applyMigrations(orm, databaseUrl)
  if (applied.length > 0) log.info({ applied }, 'database schema migrated')
  const pool = () => orm.em.getConnection().getNativeClient()
  return { databaseUrl, orm, db: queries(orm.em.fork()), pool, diskWatch }
}

/** Starts the embedded PostgreSQL and returns its URL. */
async function openEmbedded(dataDir: string, deps: Deps, diskWatch: DiskWatch): Promise<string> {
  const { log, onClose, fail } = deps
  try {
    const embedded = await startEmbeddedPostgres({
      dataDir: join(dataDir, 'postgres'),
      log: (text) => log.info(text),
      onDiskFull: diskWatch.recordError,
      onLost: fail,
    })
    onClose(() => embedded.stop())
    return embedded.url
  } catch (cause) {
    throw dataDirProblem(dataDir, cause) ?? cause
  }
}

/** Creates the bus, in this process or over Redis, and the Redis connections of the roles of this process. */
async function openRedis({ redisUrl, roles }: Config, { log, report, onClose, redisCommandMs }: Deps) {
  if (!redisUrl) return { bus: createMemoryBus(report), hubRedis: undefined, limitsRedis: undefined }
  const closeOnExit = <T extends { disconnect(): void }>(redis: T): T => {
    onClose(async () => redis.disconnect())
    return redis
  }
  const open = (name: string) =>
    closeOnExit(connectRedis(redisUrl, { name, log, queueCommands: name.endsWith('-subscriber') }))
  const bus = createRedisBus({
    publisher: open('bus-publisher'),
    subscriber: open('bus-subscriber'),
    processId: randomUUID(),
    report,
  })
  const hubRedis: HubRedis | undefined = roles.includes('hub')
    ? {
        publisher: open('hub-publisher'),
        subscriber: open('hub-subscriber'),
        isCluster: isRedisCluster(redisUrl),
      }
    : undefined
  const limitsRedis = roles.includes('api')
    ? closeOnExit(connectKeyRedis(redisUrl, { name: 'rate-limits', log, commandMs: redisCommandMs }))
    : undefined
  return { bus, hubRedis, limitsRedis }
}
