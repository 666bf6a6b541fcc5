import pg from 'pg'
import { waitUntil } from '../async.ts'
import { type Cluster, openCluster, SUPERUSER } from './embedded-cluster.ts'
import { isAlive } from './embedded-launch.ts'
import {
  findPostmaster,
  freePort,
  type Launch,
  launchPostgres,
  type Postmaster,
  stopPostmaster,
} from './embedded-postmaster.ts'

const DATABASE = 'wheelhouse'
const START_LIMIT_MS = 30_000
const CONNECT_LIMIT_MS = 5_000
const OWNER_NAME = 'wheelhouse owner '
/** Any number will do: nothing but Wheelhouse uses this server. */
const OWNER_LOCK = 20_260_118

/** Reasons not to start that pass by themselves: a port just taken, backends of a killed server still ending. */
const PASSING =
  /could not create any TCP\/IP sockets|Address already in use|pre-existing shared memory|lock file ".*" (already exists|is empty)/

/** The connection that marks the owner. Its types lack what decides whether it keeps the process running. */
type Owner = pg.Client & { ref(): void; unref(): void }

export interface EmbeddedPostgresOptions {
  /** A directory of its own; created when missing. */
  dataDir: string
  /** False gives up safety against power loss for speed, for tests. */
  durable?: boolean
  maxConnections?: number
  log: (line: string) => void
}

export interface EmbeddedPostgres {
  /** Connects as superuser to the database `wheelhouse`. */
  readonly url: string
  /** Ends all connections, writes everything to disk and ends the server. May be called more than once. */
  stop(): Promise<void>
}

/**
 * Starts the PostgreSQL that comes with Wheelhouse, on 127.0.0.1 and a free port. A server that outlived its
 * killed Wheelhouse is taken over; a server that another Wheelhouse is using is refused.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const cluster = await openCluster(options.dataDir, options.log)
  const { postmaster, owner } = await acquire(cluster, options)
  let stopping: Promise<void> | undefined
  owner.on('error', (error) => {
    if (!stopping) options.log(`lost the embedded PostgreSQL: ${error.message}`)
  })
  const stop = () => {
    // The owner's connection, and with it the ownership, ends with the server itself and not before.
    owner.ref()
    stopping ??= stopPostmaster(cluster, postmaster).finally(() => owner.end())
    return stopping
  }
  try {
    const found = await owner.query('select 1 from pg_database where datname = $1', [DATABASE])
    if (found.rowCount === 0) await owner.query(`create database ${DATABASE}`)
  } catch (error) {
    await stop()
    throw error
  }
  // The owner's connection lasts as long as we run, but must not be what keeps us running.
  owner.unref()
  const url = `postgres://${SUPERUSER}:${cluster.password}@127.0.0.1:${postmaster.port}/${DATABASE}`
  return { url, stop }
}

/** Gets a server to run on the cluster, whoever spawned it, and makes this process its owner. */
async function acquire(cluster: Cluster, options: EmbeddedPostgresOptions) {
  let launch: Launch | undefined
  let postmaster: Postmaster | undefined
  let owner: Owner | undefined
  try {
    await waitUntil(async () => {
      postmaster = await findPostmaster(cluster.data)
      if (postmaster?.ready) {
        owner = await claim(cluster, postmaster.port)
        return owner !== undefined
      }
      const failure = launch?.failure()
      if (failure && !postmaster && !PASSING.test(failure)) throw startFailure(cluster, failure)
      if (!postmaster && (!launch || failure)) {
        launch = launchPostgres(cluster, await freePort(), settingsFor(options))
      }
      return false
    }, START_LIMIT_MS)
    if (!postmaster || !owner) {
      throw startFailure(cluster, launch?.failure() ?? `it accepts no connections after ${START_LIMIT_MS} ms`)
    }
  } catch (error) {
    const abandoned = launch?.pid !== undefined && launch.failure() === undefined
    if (abandoned && !(error instanceof InUse))
      await stopPostmaster(cluster, { pid: launch!.pid!, data: cluster.data })
    throw error
  }
  if (postmaster.pid !== launch?.pid) options.log('took over the PostgreSQL of a Wheelhouse that was killed')
  return { postmaster, owner }
}

function startFailure(cluster: Cluster, reason: string): Error {
  const lines = reason.replaceAll(/^/gm, '  ')
  return new Error(`The embedded PostgreSQL in ${cluster.data} did not start:\n${lines}`)
}

function settingsFor({
  durable = true,
  maxConnections = 100,
}: EmbeddedPostgresOptions): Record<string, string> {
  const lasting = durable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }
  // One connection more, which the owner holds.
  return { max_connections: String(maxConnections + 1), timezone: 'UTC', log_timezone: 'UTC', ...lasting }
}

/**
 * Makes this process the owner of a running server, or returns undefined when it should be tried again. The
 * owner is whoever holds an advisory lock: the server frees it the moment that process dies, so unlike a pid
 * file it is never stale.
 */
async function claim(cluster: Cluster, port: number): Promise<Owner | undefined> {
  const client = new pg.Client({
    host: '127.0.0.1',
    port,
    user: SUPERUSER,
    password: cluster.password,
    database: 'postgres',
    ssl: false,
    application_name: `${OWNER_NAME}${process.pid}`,
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
  }) as Owner
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query('select pg_try_advisory_lock($1) as owned', [OWNER_LOCK])
    if (rows[0].owned) return client
    await refuseIfOwnerLives(client)
  } catch (error) {
    await client.end()
    if (!isPassing(error)) throw error
    return undefined
  }
  await client.end()
  return undefined
}

class InUse extends Error {}

async function refuseIfOwnerLives(client: pg.Client): Promise<void> {
  const { rows } = await client.query(
    `select application_name as name from pg_stat_activity join pg_locks using (pid)
     where locktype = 'advisory' and granted and objid = $1`,
    [OWNER_LOCK],
  )
  const owner = Number(rows[0]?.name.slice(OWNER_NAME.length))
  if (!Number.isInteger(owner) || !isAlive(owner)) return
  throw new InUse(
    `The embedded PostgreSQL is already in use by process ${owner}. ` +
      'Stop that Wheelhouse, or set DATA_DIR or DATABASE_URL for this one.',
  )
}

/** A server that is just starting or ending: it refuses, resets, or says so (class 57P). */
function isPassing(error: unknown): boolean {
  const code = String((error as { code?: string }).code)
  return ['ECONNREFUSED', 'ECONNRESET', '57P01', '57P02', '57P03'].includes(code)
}
