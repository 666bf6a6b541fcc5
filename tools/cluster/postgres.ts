import { join } from 'node:path'
import { Client } from 'pg'
import { waitUntil } from '../../src/core/concurrency/concurrency.ts'
import { type Cluster as Database, openCluster, SUPERUSER } from '../../src/core/database/embedded-cluster.ts'
import {
  findPostmaster,
  launchPostgres,
  stopPostmaster,
} from '../../src/core/database/embedded-postmaster.ts'
import { createNode, type Launched, type ManagedNode } from './node.ts'
import { childrenOf, isThere, sendTo } from './processes.ts'
import { tailOf } from './spawn.ts'

const DATABASE = 'wheelhouse'
/** Eight processes with their pools, and as many again for whoever looks on. */
const MAX_CONNECTIONS = 200
const CHILDREN_END_MS = 10_000

/** The PostgreSQL of a cluster, as a node on a fixed port; its data outlives every kind of death. */
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
    // To PostgreSQL, SIGTERM means to wait until everybody has left.
    askToEnd: (pid) => stopPostmaster(database, { pid, data: database.data }),
    lastOutput: () => tailOf(database.logFile),
  })
  return { node, url: urlOf(DATABASE) }
}

/** A server whose cluster was killed: nobody can be using it, for the cluster's directory is ours. */
async function endLeftOver(database: Database): Promise<void> {
  const running = await findPostmaster(database.data)
  if (running) await stopPostmaster(database, running)
}

async function launchDatabase(database: Database, port: number, durable: boolean): Promise<Launched> {
  // Removes the remnants of a crash that PostgreSQL would stumble over.
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
      // Every backend is a session of its own, which no signal to a group reaches. The server is held first, so that
      // it begins no more of them meanwhile.
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
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 1_000 })
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
