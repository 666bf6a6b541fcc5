import { mkdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { waitUntil } from '../../src/core/concurrency/concurrency.ts'
import { loadOrCreateRootKey } from '../../src/core/secrets.ts'
import { makeCertificate } from '../../test/support/network/certificate.ts'
import { findProgram, redisAnswers, requireProgram } from '../../test/support/programs/installed-programs.ts'
import { claimDirectory } from './directory-lock.ts'
import { type ClusterNode, createNode, type ManagedNode } from './node.ts'
import { choosePorts, DEFAULT_PORT } from './ports.ts'
import { createPostgres } from './postgres.ts'
import { createProxy } from './proxy.ts'
import { answersOk, createRoles } from './roles.ts'
import { launch, tailOf } from './spawn.ts'
import { createStorage } from './storage.ts'
import { createTurn } from './turn.ts'

/** Creates the Redis of a cluster, as a persistent node on a fixed port. */
function createRedis(options: { dataDir: string; port: number; logFile: string }): {
  node: ManagedNode
  url: string
} {
  const { port, logFile } = options
  const program = requireProgram('redis-server', 'redis-server')
  const dir = join(options.dataDir, 'redis')
  mkdirSync(dir, { recursive: true })
  const flags = [
    '--bind',
    '127.0.0.1',
    '--port',
    String(port),
    '--dir',
    dir,
    '--save',
    '',
    '--appendonly',
    'yes',
  ]
  const node = createNode({
    name: 'redis',
    kind: 'redis',
    port,
    logFile,
    launch: () => launch(program, flags, { logFile, env: {} }),
    serves: () => redisAnswers(port),
    lastOutput: () => tailOf(logFile),
  })
  return { node, url: `redis://127.0.0.1:${port}` }
}

const ROUTES_LIMIT_MS = 180_000

export type { ClusterNode, NodeKind } from './node.ts'

export interface ClusterOptions {
  /** Directory of data, keys and logs; created when missing. Default: `.data/cluster`. */
  readonly dataDir?: string
  /** The public port, first of 21 consecutive ports; 0 selects any free ports. Default: 8080. */
  readonly port?: number
  /** URL of an existing PostgreSQL; without it the cluster starts one. */
  readonly databaseUrl?: string
  /** URL of an existing Redis; without it the cluster starts one. */
  readonly redisUrl?: string
  /** False trades the database's safety against power loss for speed. Default: true. */
  readonly durable?: boolean
  /** Whether recordings are stored at an S3 server for tests, instead of the data directory. Default: false. */
  readonly s3?: boolean
  /** Demo accounts, and two robots that run inside the first api. Default: false. */
  readonly demo?: boolean
  /** Settings for all Wheelhouse processes; they override the cluster's own. */
  readonly env?: Readonly<Record<string, string>>
  readonly print?: (line: string) => void
}

export interface Cluster {
  /** The public origin of REST, sign-in and hub, through the proxy. */
  readonly baseUrl: string
  readonly hubUrl: string
  /** The URL at which robots connect, through the proxy, to any gateway. */
  readonly gatewayUrl: string
  readonly databaseUrl: string
  readonly redisUrl: string
  readonly secretKey: string
  /** The URL of the proxy's metrics, such as the number of nodes that are ready. */
  readonly proxyMetricsUrl: string
  readonly dataDir: string
  readonly logDir: string
  readonly nodes: readonly ClusterNode[]
  /** Ends every process, Wheelhouse's first and the stores last. A second call is harmless. */
  stop(): Promise<void>
}

/**
 * Starts PostgreSQL, Redis, two processes of every role and the proxy; settles when all of them serve.
 * @throws Error that says what to do. No process is left running then.
 */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const { print = () => {}, port = DEFAULT_PORT } = options
  const dataDir = resolve(options.dataDir ?? '.data/cluster')
  const logDir = join(dataDir, 'logs')
  const claim = await claimDirectory(dataDir)
  rmSync(logDir, { recursive: true, force: true }) // logs of the previous cluster
  mkdirSync(logDir)
  const nodes: ManagedNode[] = []
  const killAll = () => {
    for (const node of nodes) node.killNow()
  }
  process.once('exit', killAll) // no process outlives this one
  let stopping: Promise<void> | undefined
  const stop = () => {
    stopping ??= stopInOrder(nodes).finally(() => {
      process.off('exit', killAll)
      claim.release()
    })
    return stopping
  }
  const start = async (...group: ManagedNode[]) => {
    nodes.push(...group)
    for (const node of group) node.onLaunch(() => claim.note(nodes))
    await startAll(group, () => stopping !== undefined)
  }

  try {
    const ports = await choosePorts(port)
    const logFile = (name: string) => join(logDir, `${name}.log`)
    // Nobody has signed it: clients must trust it, or ignore errors of certificates.
    const hasTls = findProgram('openssl') !== undefined
    const certificate = hasTls ? (await makeCertificate(dataDir, ['localhost', '127.0.0.1'])).file : undefined
    const proxy = createProxy({ ports, certificate, logFile: logFile('proxy') })
    const redis = options.redisUrl
      ? undefined
      : createRedis({ dataDir, port: ports.redis, logFile: logFile('redis') })
    const { durable = true } = options
    const postgres = options.databaseUrl
      ? undefined
      : await createPostgres({ dataDir, port: ports.postgres, durable })
    const databaseUrl = options.databaseUrl ?? (postgres?.url as string)
    const redisUrl = options.redisUrl ?? (redis?.url as string)
    const storage = options.s3
      ? createStorage({ dataDir, port: ports.storage, logFile: logFile('storage') })
      : undefined
    const stores = [postgres?.node, redis?.node, storage?.node].filter((node) => node !== undefined)
    print(`starting ${stores.map(({ name }) => name).join(' and ') || 'with existing stores'}`)
    await start(...stores)

    const baseUrl = `http://localhost:${ports.public}`
    const secretKey = options.env?.SECRET_KEY ?? loadOrCreateRootKey(dataDir)
    const tlsPort = certificate ? ports.tls : undefined
    const turn = createTurn({ dataDir, port: ports.turn, tlsPort, logFile: logFile('turn') })
    if (!certificate) print('openssl is not installed: there is no TLS')
    if (!turn) print('coturn is not installed: clients whose networks block UDP will not see cameras')
    const shared = {
      ...turn?.env,
      ...storage?.env,
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      DATA_DIR: dataDir,
      BASE_URL: baseUrl,
      SECRET_KEY: secretKey,
      ...options.env,
    }
    print('starting two each of api, hub, gateway, worker and recorder, and the proxy')
    const helpers = turn ? [proxy, turn.node] : [proxy]
    await start(...helpers, ...createRoles({ ports, logDir, shared, demo: options.demo ?? false }))
    const proxyMetricsUrl = `http://127.0.0.1:${ports['proxy-own']}/metrics`
    // Until a node has passed the proxy's checks, requests of one client can reach different nodes.
    const isReached = async () =>
      (await answersOk(`${baseUrl}/readyz`)) && (await allServersReady(proxyMetricsUrl))
    if (!(await waitUntil(isReached, ROUTES_LIMIT_MS))) {
      throw new Error(`The proxy does not reach every node. Read ${logFile('proxy')}.`)
    }
    const gatewayUrl = `ws://localhost:${ports.public}`
    return {
      proxyMetricsUrl,
      baseUrl,
      hubUrl: baseUrl,
      gatewayUrl,
      databaseUrl,
      redisUrl,
      secretKey,
      dataDir,
      logDir,
      nodes,
      stop,
    }
  } catch (cause) {
    await stop()
    throw cause
  }
}

/** Nodes that the proxy reports as ready in a complete cluster, per group. The second identity provider is a spare. */
const READY_NODES = { apis: 2, hubs: 2, gateways: 2, identity: 1 }

/** Returns whether the proxy's metrics report all nodes as ready. */
async function allServersReady(proxyMetricsUrl: string): Promise<boolean> {
  try {
    const numbers = await (await fetch(proxyMetricsUrl)).text()
    return Object.entries(READY_NODES).every(([group, count]) =>
      numbers.includes(`haproxy_backend_active_servers{proxy="${group}"} ${count}\n`),
    )
  } catch {
    return false
  }
}

/** Runs all at once; throws the first failure after all of them have settled. */
async function startAll(group: readonly ManagedNode[], isStopping: () => boolean): Promise<void> {
  const outcomes = await Promise.allSettled(group.map((node) => node.start()))
  const failed = outcomes.find((outcome) => outcome.status === 'rejected')
  if (failed) throw failed.reason
  if (isStopping()) throw new Error('The cluster was stopped before it was ready.')
}

/** Ends processes before those they depend on. A failure to stop one does not keep the others running. */
async function stopInOrder(nodes: readonly ManagedNode[]): Promise<void> {
  const isStore = ({ kind }: ClusterNode) => kind === 'postgres' || kind === 'redis' || kind === 'storage'
  const isHelper = ({ kind }: ClusterNode) => kind === 'proxy' || kind === 'turn'
  const groups = [
    nodes.filter((node) => !isStore(node) && !isHelper(node)),
    nodes.filter(isHelper),
    nodes.filter(isStore),
  ]
  const failures: unknown[] = []
  // A paused process would delay the processes that wait for it.
  for (const node of nodes) node.resume()
  for (const group of groups) {
    const outcomes = await Promise.allSettled(group.map((node) => node.stop()))
    failures.push(...outcomes.flatMap((item) => (item.status === 'rejected' ? [item.reason] : [])))
  }
  if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join('; '))
}
