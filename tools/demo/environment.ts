import { join } from 'node:path'
import type { Middleware } from 'koa'
import pg from 'pg'
import { loadConfig } from '../../src/app/config.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/core/database/embedded.ts'
import { createLog } from '../../src/core/log.ts'
import { DEFAULT_DATA_DIR } from '../../src/core/process/data-dir.ts'
import { type RunningPlatform, startRoles } from '../../src/roles/start-roles.ts'
import { demoAccounts } from './accounts.ts'
import { type Demo, seedDemo } from './seed.ts'

type Env = Record<string, string | undefined>

/** The Wheelhouse that the demo uses, and the keys of both accounts. */
export interface DemoEnvironment {
  readonly baseUrl: string
  readonly keys: { readonly owner: string; readonly operator: string }
  close(): Promise<void>
}

/**
 * Returns a Wheelhouse that is already running.
 * @throws Error that says what is missing
 */
export function remoteEnvironment(url: string, env: Env): DemoEnvironment {
  const { protocol, origin } = URL.parse(url) ?? {}
  // The demo cuts connections in transit, which it cannot do inside TLS.
  if (protocol !== 'http:' || !origin) throw new Error(`--url must be an http:// URL, not ${url}`)
  const { OWNER: owner, OPERATOR: operator } = env
  if (!owner || !operator) {
    throw new Error(
      'With --url the demo uses your keys. Set OWNER and OPERATOR to API keys of a client and of a ' +
        'certified operator. `npm start` prints an export line with both.',
    )
  }
  return { baseUrl: origin, keys: { owner, operator }, close: async () => {} }
}

/** A Wheelhouse that the demo starts in this process. */
export type LocalEnvironment = DemoEnvironment & Demo & { readonly running: RunningPlatform }

export interface LocalEnvironmentOptions {
  /** Its folder under DATA_DIR; demos with different folders can run side by side. Default: demo. */
  readonly folder?: string
  /** Environment variables that override the demo's. */
  readonly settings?: Record<string, string>
  readonly now?: () => Date
  /** Routes that the api serves in addition to its own. */
  readonly pages?: readonly Middleware[]
}

/**
 * Starts a Wheelhouse for the demo, on free ports and with an empty database. An existing database is used only with
 * DEMO=true, because the demo leaves its accounts there.
 */
export async function startLocalEnvironment(
  env: Env,
  options: LocalEnvironmentOptions = {},
): Promise<LocalEnvironment> {
  const dataDir = join(env.DATA_DIR || DEFAULT_DATA_DIR, options.folder ?? 'demo')
  const externalUrl = env.DEMO === 'true' || env.DEMO === '1' ? env.DATABASE_URL : undefined
  const database = externalUrl ? { url: externalUrl, stop: async () => {} } : await emptyDatabase(dataDir)
  try {
    const config = loadConfig({
      DATABASE_URL: database.url,
      DATA_DIR: dataDir,
      PORT: '0',
      DEMO: 'true',
      LOG_LEVEL: env.LOG_LEVEL || 'silent',
      // Frequent enough to show some; the timeout stays long, because a robot on a busy machine is not lost.
      HEARTBEAT_INTERVAL_MS: '250',
      ...options.settings,
    })
    const log = createLog({ level: config.logLevel, pretty: false })
    const running = await startRoles(config, log, {
      ...(options.now && { now: options.now }),
      ...(options.pages && { pages: options.pages }),
      accounts: demoAccounts,
    })
    try {
      const demo = await seedDemo(running.platform)
      const { baseUrl } = running
      return { ...demo, baseUrl, running, close: () => running.stop().finally(database.stop) }
    } catch (cause) {
      await running.stop()
      throw cause
    }
  } catch (cause) {
    await database.stop()
    throw cause
  }
}

/**
 * Starts the demo's database server. The directory is always the same, so that the server of a killed demo is found
 * and ended. Its schema is emptied: a session of an earlier demo would keep the operator busy.
 * @throws Error when another demo is using it
 */
async function emptyDatabase(dataDir: string): Promise<EmbeddedPostgres> {
  const postgres = await startEmbeddedPostgres({
    dataDir: join(dataDir, 'postgres'),
    durable: false, // its data is disposable, so no commit waits for the disk
    log() {},
  })
  const client = new pg.Client({ connectionString: postgres.url })
  try {
    await client.connect()
    await client.query('drop schema public cascade; create schema public')
    await client.end()
    return postgres
  } catch (cause) {
    await postgres.stop()
    throw cause
  }
}
