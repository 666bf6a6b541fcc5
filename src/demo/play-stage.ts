import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../config.ts'
import { createLog } from '../log.ts'
import { startRoles } from '../roles.ts'
import { seedDemo } from './seed.ts'

type Env = Record<string, string | undefined>

/** Where the demo is played: a Wheelhouse and the keys of the two people. */
export interface Stage {
  readonly baseUrl: string
  readonly keys: { readonly owner: string; readonly operator: string }
  close(): Promise<void>
}

/**
 * A Wheelhouse that runs already.
 * @throws Error that says what is missing
 */
export function visitedStage(url: string, env: Env): Stage {
  const { protocol, origin } = URL.parse(url) ?? {}
  // The demo cuts connections on their way, which it cannot do inside TLS.
  if (protocol !== 'http:' || !origin) throw new Error(`--url must be an http:// URL, not ${url}`)
  const { OWNER: owner, OPERATOR: operator } = env
  if (!owner || !operator) {
    throw new Error(
      'With --url the demo plays with your keys: set OWNER and OPERATOR to API keys of a client and of a ' +
        'certified operator. `npm start` prints an export line with both.',
    )
  }
  return { baseUrl: origin, keys: { owner, operator }, close: async () => {} }
}

/**
 * A Wheelhouse of the demo's own, on free ports and with data that does not outlive it. A database that is
 * given is used only with DEMO=true, since the demo leaves its accounts there.
 */
export async function ownStage(env: Env): Promise<Stage> {
  const dataDir = await mkdtemp(join(tmpdir(), 'wheelhouse-demo-'))
  const removeData = () => rm(dataDir, { recursive: true, force: true })
  try {
    const database = env.DEMO === 'true' || env.DEMO === '1' ? { DATABASE_URL: env.DATABASE_URL } : {}
    const config = loadConfig({
      ...database,
      DATA_DIR: dataDir,
      PORT: '0',
      GATEWAY_PORT: '0',
      DEMO: 'true',
      LOG_LEVEL: env.LOG_LEVEL || 'silent',
      // Often enough to see some; the timeout stays long, since a busy machine is no lost robot.
      HEARTBEAT_INTERVAL_MS: '250',
    })
    const running = await startRoles(config, createLog({ level: config.logLevel, pretty: false }))
    const close = () => running.stop().finally(removeData)
    try {
      const { keys } = await seedDemo(running.platform)
      return { baseUrl: running.baseUrl, keys, close }
    } catch (cause) {
      await running.stop()
      throw cause
    }
  } catch (cause) {
    await removeData()
    throw cause
  }
}
