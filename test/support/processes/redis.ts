import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { Redis } from 'ioredis'
import { waitUntil } from '../../../src/core/concurrency/concurrency.ts'
import { freePort } from '../../../src/core/database/embedded-postmaster.ts'
import { installOnDebian } from '../programs/debian.ts'
import { redisAnswers } from '../programs/installed-programs.ts'
import { WAIT_LIMIT_MS } from '../wait-limit.ts'

const run = promisify(execFile)
const IMAGE = 'redis:8'

export interface TestRedis {
  readonly url: string
  stop(): Promise<void>
}

/** A separate Redis process, which a test can kill. */
interface RedisProcess extends TestRedis {
  stop(signal?: NodeJS.Signals): Promise<void>
}

/**
 * Provides a real Redis for tests: the server of REDIS_URL, else a new `redis-server`, which root on Debian installs
 * when it is missing, else one in Docker.
 */
export async function startRedis(): Promise<TestRedis> {
  const given = process.env.REDIS_URL
  if (given) return { url: given, stop: async () => {} }
  const program = await redisServer()
  if (program) return startServer(program)
  if (await answers('docker', ['info'])) return startContainer()
  throw new Error(
    'The tests need a real Redis, which was not found. Install redis-server (Debian: apt-get install ' +
      'redis-server; macOS: brew install redis), start Docker, or set REDIS_URL to a Redis 7 or newer.',
  )
}

/** Returns the program, which root on Debian installs when it is missing. */
async function redisServer(): Promise<string | undefined> {
  const find = () =>
    (process.env.PATH ?? '')
      .split(delimiter)
      .map((folder) => join(folder, 'redis-server'))
      .find((file) => existsSync(file))
  if (!find()) await installOnDebian('redis-server')
  return find()
}

/** Starts a Redis process on a free port of 127.0.0.1. */
async function startServer(program: string, more: readonly string[] = []): Promise<RedisProcess> {
  const port = await freePort()
  const flags = ['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--appendonly', 'no', ...more]
  const child = spawn(program, flags, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output = `${output}${chunk}`.slice(-2_000)
    })
  }
  let ended = false
  const end = new Promise<void>((done) => {
    const settle = () => {
      ended = true
      done()
    }
    child.once('exit', settle).once('error', (error) => {
      output += error.message
      settle()
    })
  })
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal)
    await end
  }
  const ready = await waitUntil(async () => ended || (await redisAnswers(port)), WAIT_LIMIT_MS)
  if (ready && !ended) return { url: `redis://127.0.0.1:${port}`, stop }
  await stop()
  throw new Error(`redis-server did not start:\n${output.trim()}`)
}

const CLUSTER_NODES = 3
const SLOTS = 16_384

export interface TestRedisCluster {
  /** The addresses of all nodes, in the format of REDIS_URL. */
  readonly url: string
  readonly nodes: readonly RedisProcess[]
  stop(): Promise<void>
}

/** Starts a Redis Cluster of three nodes without replicas, each with a third of the slots. */
export async function startRedisCluster(): Promise<TestRedisCluster> {
  const program = await redisServer()
  if (!program) throw new Error('The tests of Redis Cluster need redis-server on the PATH (7 or newer)')
  const folder = await mkdtemp(join(tmpdir(), 'wheelhouse-redis-'))
  const nodes: (RedisProcess & { busPort: number })[] = []
  const stop = async () => {
    await Promise.all(nodes.map((node) => node.stop()))
    await rm(folder, { recursive: true, force: true })
  }
  try {
    for (let number = 0; number < CLUSTER_NODES; number++) {
      const busPort = await freePort()
      const node = await startServer(program, [
        '--dir',
        folder,
        '--cluster-enabled',
        'yes',
        '--cluster-config-file',
        `node-${number}.conf`,
        '--cluster-port',
        String(busPort),
        '--cluster-node-timeout',
        '1000',
      ])
      nodes.push({ ...node, busPort })
    }
    await joinNodes(nodes)
  } catch (cause) {
    await stop()
    throw cause
  }
  return { url: nodes.map(({ url }) => url).join(','), nodes, stop }
}

async function joinNodes(nodes: readonly { url: string; busPort: number }[]): Promise<void> {
  const connections = nodes.map(({ url }) => new Redis(url))
  try {
    const share = Math.ceil(SLOTS / nodes.length)
    for (const [index, redis] of connections.entries()) {
      const last = Math.min((index + 1) * share, SLOTS) - 1
      await redis.call('CLUSTER', 'ADDSLOTSRANGE', index * share, last)
      await redis.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1)
    }
    for (const { url, busPort } of nodes.slice(1)) {
      await connections[0]?.call('CLUSTER', 'MEET', '127.0.0.1', new URL(url).port, busPort)
    }
    const isJoined = async (redis: Redis) => {
      const info = String(await redis.call('CLUSTER', 'INFO'))
      return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${nodes.length}`)
    }
    const allJoined = async () => (await Promise.all(connections.map(isJoined))).every(Boolean)
    if (!(await waitUntil(allJoined, WAIT_LIMIT_MS)))
      throw new Error('The Redis nodes did not join the cluster.')
  } finally {
    for (const redis of connections) redis.disconnect()
  }
}

async function startContainer(): Promise<TestRedis> {
  const args = ['run', '--detach', '--rm', '--publish', '127.0.0.1::6379', IMAGE]
  const { stdout } = await run('docker', [...args, 'redis-server', '--save', '', '--appendonly', 'no'])
  const id = stdout.trim()
  const stop = async () => {
    await run('docker', ['rm', '--force', id])
  }
  const mapping = await run('docker', ['port', id, '6379/tcp'])
  const port = Number(mapping.stdout.trim().split(':').at(-1))
  if (await waitUntil(() => redisAnswers(port), WAIT_LIMIT_MS))
    return { url: `redis://127.0.0.1:${port}`, stop }
  await stop()
  throw new Error(`The ${IMAGE} container does not answer on port ${port}`)
}

const answers = (program: string, args: string[]) =>
  run(program, args, { timeout: WAIT_LIMIT_MS }).then(
    () => true,
    () => false,
  )
