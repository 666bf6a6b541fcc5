import { join } from 'node:path'
import { loadConfig } from '../config.ts'
import type { Platform } from '../deps.ts'
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
 * A Wheelhouse of the demo's own, on free ports and beside the data of `npm start`. A database that is given
 * is used only with DEMO=true, since the demo leaves its accounts there.
 */
export async function ownStage(env: Env): Promise<Stage> {
  const given = env.DEMO === 'true' || env.DEMO === '1' ? env.DATABASE_URL : undefined
  const config = loadConfig({
    DATABASE_URL: given,
    // Not a temporary one: the database server of a demo that was killed is found and taken over here.
    DATA_DIR: join(env.DATA_DIR || '.data', 'demo'),
    PORT: '0',
    GATEWAY_PORT: '0',
    DEMO: 'true',
    LOG_LEVEL: env.LOG_LEVEL || 'silent',
    // Often enough to see some; the timeout stays long, since a busy machine is no lost robot.
    HEARTBEAT_INTERVAL_MS: '250',
  })
  const running = await startRoles(config, createLog({ level: config.logLevel, pretty: false }))
  try {
    const { keys } = await seedDemo(running.platform)
    if (!given) await endLeftovers(running.platform)
    return { baseUrl: running.baseUrl, keys, close: running.stop }
  } catch (cause) {
    await running.stop()
    throw cause
  }
}

/** A demo that was killed has left its session open, and its operator busy. */
async function endLeftovers({ db, lifecycle }: Platform): Promise<void> {
  const open = await db
    .selectFrom('sessions')
    .select(['id', 'robot_id'])
    .where('status', 'in', ['ACTIVE', 'PAUSED'])
    .execute()
  for (const session of open) await lifecycle.endBySystem(session, 'demo_killed')
}
