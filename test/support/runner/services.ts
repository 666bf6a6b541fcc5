import { mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { startEmbeddedPostgres } from '../../../src/core/database/embedded.ts'
import { startRedis } from '../processes/redis.ts'

// PostgreSQL and Redis for one test run, in a separate process that lives as long as its standard input is open. They
// therefore end with the run, however it ends: vitest leaves no time for teardown on a signal, and none when it is
// killed. Prints one line of JSON: the addresses of the services, or an error.

/** A folder in memory on Linux. */
const MEMORY = '/dev/shm'
/** Several times the size of the databases of a run. */
const ROOM_BYTES = 4 * 2 ** 30

interface Service {
  readonly url: string
  stop(): Promise<void>
}

/** Uses memory if there is enough: hundreds of databases are copied, and a busy disk takes ten times as long. */
async function databaseFolder(): Promise<string> {
  const { bavail, bsize } = await statfs(MEMORY).catch(() => ({ bavail: 0, bsize: 0 }))
  return Math.min(bavail * bsize, process.availableMemory()) >= ROOM_BYTES ? MEMORY : tmpdir()
}

async function startDatabase(): Promise<Service> {
  const given = process.env.TEST_DATABASE_URL
  if (given) return { url: given, stop: async () => {} }
  const dataDir = await mkdtemp(join(await databaseFolder(), 'wheelhouse-test-'))
  const remove = () => rm(dataDir, { recursive: true, force: true })
  try {
    const database = await startEmbeddedPostgres({ dataDir, durable: false, maxConnections: 500, log() {} })
    await makeConnectingCheap(database.url)
    return { url: database.url, stop: () => database.stop().finally(remove) }
  } catch (error) {
    await remove()
    throw error
  }
}

/** Stores the password with one hash iteration: tests connect often, and each login repeats the iterations. */
async function makeConnectingCheap(url: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const { username, password } = new URL(url)
    await client.query('set scram_iterations = 1')
    await client.query(
      `alter role ${client.escapeIdentifier(username)} password ${client.escapeLiteral(password)}`,
    )
  } finally {
    await client.end()
  }
}

const abandoned = new Promise((done) => process.stdin.once('close', done).resume())
// Messages of Redis reach every platform that is connected to it, so each worker has its own. The argument is their number.
const redisServers = Array.from({ length: Number(process.argv[2]) }, startRedis)
const starting = [startDatabase(), ...redisServers] as const
const outcomes = await Promise.allSettled(starting)
try {
  const [databaseUrl, ...redisUrls] = (await Promise.all(starting)).map((service) => service.url)
  process.stdout.write(`${JSON.stringify({ databaseUrl, redisUrls })}\n`)
  await abandoned
} catch (error) {
  process.stdout.write(`${JSON.stringify({ error: (error as Error).message })}\n`)
  process.exitCode = 1
}
for (const outcome of outcomes) if (outcome.status === 'fulfilled') await outcome.value.stop()
process.stdin.destroy()
