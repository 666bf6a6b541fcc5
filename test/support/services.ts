import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '../../src/db/embedded.ts'
import { startRedis } from './redis.ts'

// PostgreSQL and Redis for one test run, in a process of their own that lives as long as its standard input is
// open. So they end with the run however it ends: vitest leaves no time for teardown on a signal, and none at
// all when it is killed. Prints one line of JSON: where the services are, or what went wrong.

interface Service {
  readonly url: string
  stop(): Promise<void>
}

async function startDatabase(): Promise<Service> {
  const given = process.env.TEST_DATABASE_URL
  if (given) return { url: given, stop: async () => {} }
  const dataDir = await mkdtemp(join(tmpdir(), 'wheelhouse-test-'))
  const remove = () => rm(dataDir, { recursive: true, force: true })
  try {
    const database = await startEmbeddedPostgres({ dataDir, durable: false, maxConnections: 200, log() {} })
    return { url: database.url, stop: () => database.stop().finally(remove) }
  } catch (error) {
    await remove()
    throw error
  }
}

const abandoned = new Promise((done) => process.stdin.once('close', done).resume())
const starting = [startDatabase(), startRedis()] as const
const outcomes = await Promise.allSettled(starting)
try {
  const [databaseUrl, redisUrl] = (await Promise.all(starting)).map((service) => service.url)
  process.stdout.write(`${JSON.stringify({ databaseUrl, redisUrl })}\n`)
  await abandoned
} catch (error) {
  process.stdout.write(`${JSON.stringify({ error: (error as Error).message })}\n`)
  process.exitCode = 1
}
for (const outcome of outcomes) if (outcome.status === 'fulfilled') await outcome.value.stop()
process.stdin.destroy()
