import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createDiskWatch, type DiskWatch } from '../core/database/disk-watch.ts'
import { ClusterInUseError, startEmbeddedPostgres } from '../core/database/embedded.ts'
import { createMemoryBus } from '../core/events/bus.ts'
import { createRedisBus } from '../core/events/redis-bus.ts'
import type { Log } from '../core/log.ts'
import { dataDirProblem, openDataDir } from '../core/process/data-dir.ts'
import { connectKeyRedis, connectRedis, type HubRedis, isRedisCluster } from '../core/redis.ts'
import { type Config, withDataDir } from './config.ts'
import { applyMigrations } from './database/migrations/apply-migrations.ts'
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
  const database = await openDatabase(config, deps)
  return { ...database, ...(await openRedis(config, deps)) }
}

async function openDatabase(given: Config, deps: Deps) {
  const { log, onClose } = deps
  const diskWatch = createDiskWatch(log)
  const { config, databaseUrl } = await openDataDirOf(given, deps, diskWatch)
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
  return { config, databaseUrl, orm, db: queries(orm.em.fork()), pool, diskWatch }
}

/**
 * Opens the data directory and the embedded PostgreSQL in it, where they are needed.
 *
 * Without DATA_DIR and DATABASE_URL, the directory is the default one for every port, so that a platform finds its data when its
 * port changes. While a platform on another port uses it, the port gets a separate directory, and keeps it: its data
 * would otherwise depend on which platform began first. A platform on the same port is about to end, so it is an error.
 * @returns the configuration with the directory that is used
 */
async function openDataDirOf(config: Config, deps: Deps, diskWatch: DiskWatch) {
  if (config.databaseUrl) {
    if (!config.secretKey || !config.idp) openDataDir(config.dataDir)
    return { config, databaseUrl: config.databaseUrl }
  }
  const { separateDataDir } = config
  const openAt = async (dataDir: string) => {
    openDataDir(dataDir)
    const databaseUrl = await openEmbedded({ dataDir, port: config.port }, deps, diskWatch)
    return { config: withDataDir(config, dataDir), databaseUrl }
  }
  const hasSeparate = separateDataDir !== undefined && existsSync(postgresIn(separateDataDir))
  try {
    return await openAt(hasSeparate ? separateDataDir : config.dataDir)
  } catch (cause) {
    if (!(cause instanceof ClusterInUseError)) throw cause
    if (hasSeparate || !separateDataDir || [0, config.port].includes(cause.port)) {
      throw new Error(cause.message, { cause })
    }
    deps.log.info(
      `a Wheelhouse on port ${cause.port} uses ${config.dataDir}; the data of port ${config.port} is in ${separateDataDir}`,
    )
    return await openAt(separateDataDir)
  }
}

const postgresIn = (dataDir: string) => join(dataDir, 'postgres')

/** Starts the embedded PostgreSQL and returns its URL. */
async function openEmbedded(
  { dataDir, port }: Pick<Config, 'dataDir' | 'port'>,
  deps: Deps,
  diskWatch: DiskWatch,
): Promise<string> {
  const { log, onClose, fail } = deps
  try {
    const embedded = await startEmbeddedPostgres({
      dataDir: postgresIn(dataDir),
      port,
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
