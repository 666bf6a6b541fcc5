import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { waitUntil } from '../concurrency/concurrency.ts'
import { isDiskFull } from '../errors/disk-full.ts'
import { type Cluster, openCluster, SUPERUSER } from './embedded-cluster.ts'
import { isAlive } from './embedded-launch.ts'
import {
  endWithProcess,
  findPostmaster,
  forgetServer,
  freePort,
  type Launch,
  launchPostgres,
  type Postmaster,
  stopPostmaster,
} from './embedded-postmaster.ts'

const DATABASE = 'wheelhouse'
/** Ends a hang. A recovery on a slow machine takes a minute. */
const START_LIMIT_MS = 120_000
const CONNECT_LIMIT_MS = 30_000
/** The number of failed restarts after which the platform gives up. A full disk does not count. */
const MAX_RESTART_FAILURES = 5
const RESTART_PAUSE_MS = 1_000
const OWNER_NAME = 'wheelhouse owner '
/** Any number works: only Wheelhouse uses this server. */
const OWNER_LOCK = 20_260_118

/** Temporary start failures: the port was just taken, or backends of a killed server are still exiting. */
const TRANSIENT_FAILURE =
  /could not create any TCP\/IP sockets|Address already in use|pre-existing shared memory|lock file ".*" (already exists|is empty)/

/** The connection that marks the owner. The types of pg lack `ref` and `unref`. */
type Owner = pg.Client & { ref(): void; unref(): void }

export interface EmbeddedPostgresOptions {
  /** A directory used only by this server. Created when it does not exist. */
  dataDir: string
  /** False trades safety against power loss for speed, for tests. */
  durable?: boolean
  maxConnections?: number
  /** The port of this Wheelhouse, by which another one on the same data recognizes it. */
  port?: number
  log: (line: string) => void
  /** Called whenever a full disk prevents a restart of the server. */
  onDiskFull?: (cause: Error) => void
  /** Called once when the server died and cannot be restarted. */
  onLost?: (cause: Error) => void
}

export interface EmbeddedPostgres {
  /** The URL of the database `wheelhouse`, as superuser. */
  readonly url: string
  /** Ends all connections, writes everything to disk and stops the server. Safe to call several times. */
  stop(): Promise<void>
}

/**
 * Starts the bundled PostgreSQL on 127.0.0.1 and a free port. Takes over a server whose Wheelhouse was killed. Fails
 * when another Wheelhouse uses the server. Restarts a server that died on the same port, so that the URL stays valid.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const cluster = await openCluster(options.dataDir, options.log)
  const first = await acquire(cluster, options, {})
  if (!first.launched) options.log('took over the running PostgreSQL of a Wheelhouse process that was killed')
  const { port } = first.postmaster
  const supervisor = supervise(cluster, options, first)
  try {
    const found = await first.owner.query('select 1 from pg_database where datname = $1', [DATABASE])
    if (found.rowCount === 0) await first.owner.query(`create database ${DATABASE}`)
  } catch (error) {
    await supervisor.stop()
    throw error
  }
  // The connection of the owner lasts as long as this process, but must not prevent its exit.
  first.owner.unref()
  const url = `postgres://${SUPERUSER}:${cluster.password}@127.0.0.1:${port}/${DATABASE}`
  return { url, stop: supervisor.stop }
}

/** A running server, and the connection that makes this process its owner. */
interface OwnedServer {
  readonly postmaster: Postmaster
  readonly owner: Owner
  /** False when the server was already running. */
  readonly launched: boolean
}

/** Restarts a server whenever it dies, until `stop` is called. */
function supervise(cluster: Cluster, options: EmbeddedPostgresOptions, first: OwnedServer) {
  const { port } = first.postmaster
  const stopController = new AbortController()
  let current = first
  let restarting: Promise<void> | undefined
  let stopping: Promise<void> | undefined

  function watch(server: OwnedServer): void {
    current = server
    endWithProcess(server.postmaster.pid) // also one that was taken over
    server.owner.on('error', (error) => {
      if (!stopping) options.log(`lost the connection to the embedded PostgreSQL: ${error.message}`)
    })
    server.owner.once('end', () => {
      forgetServer(server.postmaster.pid)
      if (!stopping) restarting = restart()
    })
  }

  async function restart(): Promise<void> {
    for (let failures = 0; !stopController.signal.aborted; await pause(stopController.signal)) {
      try {
        const server = await acquire(cluster, options, { port, signal: stopController.signal })
        server.owner.unref()
        options.log('restarted the embedded PostgreSQL')
        return watch(server)
      } catch (cause) {
        if (stopController.signal.aborted) return
        const error = cause instanceof Error ? cause : new Error(String(cause))
        options.log(error.message)
        if (isDiskFull(error)) {
          options.onDiskFull?.(error)
          continue // temporary: the restart succeeds once space is freed
        }
        if (++failures === MAX_RESTART_FAILURES) return options.onLost?.(restartError(error))
      }
    }
  }

  async function end(): Promise<void> {
    stopController.abort()
    await restarting
    // The connection of the owner, and with it the ownership, must end together with the server.
    current.owner.ref()
    await stopPostmaster(cluster, current.postmaster).finally(() => current.owner.end())
  }

  watch(first)
  return {
    stop: () => {
      stopping ??= end()
      return stopping
    },
  }
}

const pause = (signal: AbortSignal) =>
  delay(RESTART_PAUSE_MS, undefined, { signal, ref: false }).catch(() => {})

const restartError = (cause: Error) =>
  new Error(
    `The embedded PostgreSQL died and could not be restarted in ${MAX_RESTART_FAILURES} attempts. ${cause.message}`,
    { cause },
  )

/** Finds or starts the server of the cluster, and makes this process its owner. */
async function acquire(
  cluster: Cluster,
  options: EmbeddedPostgresOptions,
  { port, signal }: { port?: number; signal?: AbortSignal },
): Promise<OwnedServer> {
  let launch: Launch | undefined
  let postmaster: Postmaster | undefined
  let owner: Owner | undefined
  try {
    await waitUntil(async () => {
      signal?.throwIfAborted()
      postmaster = await findPostmaster(cluster.data)
      if (postmaster?.ready) {
        owner = await claim(cluster, postmaster.port, options.port)
        return owner !== undefined
      }
      const failure = launch?.failure()
      if (failure && !postmaster && !TRANSIENT_FAILURE.test(failure)) throw startFailure(cluster, failure)
      if (!postmaster && (!launch || failure)) {
        launch = launchPostgres(cluster, port ?? (await freePort()), settingsFor(options))
      }
      return false
    }, START_LIMIT_MS)
    if (!postmaster || !owner) {
      throw startFailure(cluster, launch?.failure() ?? `it accepts no connections after ${START_LIMIT_MS} ms`)
    }
  } catch (error) {
    const abandoned = launch?.pid !== undefined && launch.failure() === undefined
    if (abandoned && !(error instanceof ClusterInUseError))
      await stopPostmaster(cluster, { pid: launch!.pid!, data: cluster.data })
    throw error
  }
  return { postmaster, owner, launched: postmaster.pid === launch?.pid }
}

function startFailure(cluster: Cluster, reason: string): Error {
  const lines = reason.replaceAll(/^/gm, '  ')
  return new Error(`The embedded PostgreSQL in ${cluster.data} did not start:\n${lines}`)
}

function settingsFor({
  durable = true,
  maxConnections = 100,
}: EmbeddedPostgresOptions): Record<string, string> {
  const durabilitySettings = durable
    ? {}
    : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }
  // One additional connection for the owner.
  return {
    max_connections: String(maxConnections + 1),
    timezone: 'UTC',
    log_timezone: 'UTC',
    ...durabilitySettings,
  }
}

/**
 * Makes this process the owner of a running server. Returns undefined when the caller should retry. The owner holds
 * an advisory lock. The server releases it as soon as the owning process dies, so unlike a pid file it is never
 * stale.
 */
async function claim(cluster: Cluster, port: number, ownPort = 0): Promise<Owner | undefined> {
  const client = new pg.Client({
    host: '127.0.0.1',
    port,
    user: SUPERUSER,
    password: cluster.password,
    database: 'postgres',
    ssl: false,
    application_name: `${OWNER_NAME}${process.pid} ${ownPort}`,
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
    if (!isServerBusy(error)) throw error
    return undefined
  }
  await client.end()
  return undefined
}

/** Another Wheelhouse uses the server. */
export class ClusterInUseError extends Error {
  /** Its port; 0 if that is not known. */
  readonly port: number
  constructor(message: string, port: number) {
    super(message)
    this.port = port
  }
}

async function refuseIfOwnerLives(client: pg.Client): Promise<void> {
  const { rows } = await client.query(
    `select application_name as name from pg_stat_activity join pg_locks using (pid)
     where locktype = 'advisory' and granted and objid = $1`,
    [OWNER_LOCK],
  )
  const [owner, port = 0] = String(rows[0]?.name).slice(OWNER_NAME.length).split(' ').map(Number)
  if (!Number.isInteger(owner) || !isAlive(owner!)) return
  throw new ClusterInUseError(
    `The embedded PostgreSQL is already in use by process ${owner}${port ? `, a Wheelhouse on port ${port}` : ''}. ` +
      'Stop that Wheelhouse, or set DATA_DIR or DATABASE_URL for this one.',
    port,
  )
}

/** Errors of pg without a code: the server accepts a connection and does not answer in time, or gives it up. */
const UNANSWERED = /^timeout expired$|^Connection terminated/

/**
 * Returns whether the connection failed because the server is starting or stopping: it refuses, resets, gives up or does
 * not answer the connection, or reports class 57P.
 */
function isServerBusy(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? String(error.code) : ''
  return (
    ['ECONNREFUSED', 'ECONNRESET', '57P01', '57P02', '57P03'].includes(code) || UNANSWERED.test(error.message)
  )
}
