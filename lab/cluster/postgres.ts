import { join } from 'node:path'
import { Client } from 'pg'
import { waitUntil } from '../../src/core/concurrency/concurrency.ts'
import { type Cluster as Database, openCluster, SUPERUSER } from '../../src/core/database/embedded-cluster.ts'
import {
  findPostmaster,
  launchPostgres,
  stopPostmaster,
} from '../../src/core/database/embedded-postmaster.ts'
import { childrenOf, isThere, sendTo } from '../../test/support/processes/process-table.ts'
import { createNode, type Launched, type ManagedNode } from './node.ts'
import { tailOf } from './spawn.ts'

const DATABASE = 'wheelhouse'
/** For eight processes with their pools, and as many connections again for other clients. */
const MAX_CONNECTIONS = 200
const CHILDREN_END_MS = 60_000
/** A busy machine needs seconds for a connection. */
const CONNECT_LIMIT_MS = 10_000

/** Creates the PostgreSQL of a cluster, as a node on a fixed port. Its data survives a kill. */
export async function createPostgres(options: {
  dataDir: string
  port: number
  durable: boolean
}): Promise<{ node: ManagedNode; url: string }> {
  const { port, durable } = options
  const database = await openCluster(join(options.dataDir, 'postgres'), () => {})
  const urlOf = (name: string) => `postgres://${SUPERUSER}:${database.password}@127.0.0.1:${port}/${name}`
  await endLeftOver(database)
  const node = createNode({
    name: 'postgres',
    kind: 'postgres',
    port,
    logFile: database.logFile,
    launch: () => launchDatabase(database, port, durable),
    serves: () => accepts(urlOf('postgres')),
    // For PostgreSQL, SIGTERM means to wait until all clients have disconnected.
    askToEnd: (pid) => stopPostmaster(database, { pid, data: database.data }),
    lastOutput: () => tailOf(database.logFile),
  })
  return { node, url: urlOf(DATABASE) }
}

/** Ends a server whose cluster was killed: it has no clients, because this cluster has locked its directory. */
async function endLeftOver(database: Database): Promise<void> {
  const running = await findPostmaster(database.data)
  if (running) await stopPostmaster(database, running)
}

async function launchDatabase(database: Database, port: number, durable: boolean): Promise<Launched> {
  // Removes remnants of a crash that would prevent a start of PostgreSQL.
  await waitUntil(async () => (await findPostmaster(database.data)) === undefined, CHILDREN_END_MS)
  const lasting = durable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }
  const server = launchPostgres(database, port, {
    max_connections: String(MAX_CONNECTIONS),
    timezone: 'UTC',
    log_timezone: 'UTC',
    ...lasting,
  })
  const { pid } = server
  if (pid === undefined) throw new Error(`PostgreSQL could not be started: ${server.failure()}`)
  let known: number[] = []
  return {
    pid,
    hasEnded: () => server.failure() !== undefined,
    signal(name) {
      // Every backend has a separate process session, which a signal to the group does not reach. The server is
      // paused first, so that it starts no more backends.
      if (name !== 'SIGCONT') {
        sendTo(pid, 'SIGSTOP')
        known = childrenOf(pid)
      }
      for (const item of [...known, pid]) sendTo(item, name)
    },
    hasExited: () => !known.some(isThere),
  }
}

async function accepts(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_LIMIT_MS })
  client.on('error', () => {})
  try {
    await client.connect()
    const found = await client.query('select 1 from pg_database where datname = $1', [DATABASE])
    if (found.rowCount === 0) await client.query(`create database ${DATABASE}`)
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}
