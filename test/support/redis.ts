import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { waitUntil } from '../../src/async.ts'
import { freePort } from '../../src/db/embedded-postmaster.ts'
import { installOnDebian } from './debian.ts'

const run = promisify(execFile)
const START_LIMIT_MS = 15_000
const IMAGE = 'redis:8'

export interface TestRedis {
  readonly url: string
  stop(): Promise<void>
}

/**
 * A real Redis for tests: the one REDIS_URL names, else one of our own from `redis-server`, which root on Debian
 * installs when it is missing, else one in Docker.
 */
export async function startRedis(): Promise<TestRedis> {
  const given = process.env.REDIS_URL
  if (given) return { url: given, stop: async () => {} }
  if (!redisServer()) await installOnDebian('redis-server')
  const program = redisServer()
  if (program) return startServer(program)
  if (await answers('docker', ['info'])) return startContainer()
  throw new Error(
    'The tests need a real Redis, and there is none here. Install redis-server (Debian: apt-get install ' +
      'redis-server; macOS: brew install redis), start Docker, or set REDIS_URL to a Redis 7 or newer.',
  )
}

function redisServer(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.map((folder) => join(folder, 'redis-server')).find((file) => existsSync(file))
}

async function startServer(program: string): Promise<TestRedis> {
  const port = await freePort()
  const flags = ['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--appendonly', 'no']
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
  const stop = async () => {
    child.kill('SIGTERM')
    await end
  }
  const ready = await waitUntil(async () => ended || (await pings(port)), START_LIMIT_MS)
  if (ready && !ended) return { url: `redis://127.0.0.1:${port}`, stop }
  await stop()
  throw new Error(`redis-server did not start:\n${output.trim()}`)
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
  if (await waitUntil(() => pings(port), START_LIMIT_MS)) return { url: `redis://127.0.0.1:${port}`, stop }
  await stop()
  throw new Error(`the ${IMAGE} container does not answer on port ${port}`)
}

/** Whether a Redis on this port of 127.0.0.1 answers PING. */
function pings(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'))
    const settle = (answer: boolean) => {
      socket.destroy()
      done(answer)
    }
    socket.once('data', (reply) => settle(reply.toString().startsWith('+PONG')))
    socket.once('error', () => settle(false)).setTimeout(1_000, () => settle(false))
  })
}

const answers = (program: string, args: string[]) =>
  run(program, args, { timeout: 5_000 }).then(
    () => true,
    () => false,
  )
