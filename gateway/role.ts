import { singleFlight } from '../src/core/concurrency/concurrency.ts'
import type { Log } from '../src/core/log.ts'
import type { Guard } from '../src/core/process/guard.ts'
import { loadOrCreateRootKey, type Secrets } from '../src/core/secrets.ts'
import { createPresence, type PresenceStore } from '../src/modules/presence/index.ts'
import { createRecorderAuthorization } from '../src/modules/recordings/transport/index.ts'
import { createFrameTime } from './base/frame-time.ts'
import type { GatewayServices } from './base/services.ts'
import type { Gateway, GatewayDeps } from './index.ts'
import type { ThreadSupervisor } from './thread/gateway-thread.ts'

interface GatewayConfig extends Readonly<GatewaySettings> {
  readonly host: string
  readonly gatewayPort: number
  /** Whether the gateway runs in a separate thread. */
  readonly gatewayThread: boolean
  /** Whether this thread asks for real-time scheduling. */
  readonly gatewayRealTime: boolean
  /** The public address of the gateway, unless it follows from the port. */
  readonly gatewayUrl: string
  readonly gatewayUrlFromPort: boolean
  readonly secretKey: string | undefined
  readonly dataDir: string
  readonly logLevel: string
  readonly rateLimits: { readonly perMinute: number }
}
type GatewaySettings = Omit<GatewayDeps['settings'], 'apiUrl'>

export interface GatewayRoleDeps
  extends Pick<GatewayDeps, 'tokens' | 'tickets' | 'bus' | 'log' | 'guard' | 'nodeId' | 'allowedOrigins'> {
  readonly secrets: Secrets
  readonly config: GatewayConfig
  /** The public origin of the REST API, at which robots publish cameras. */
  readonly baseUrl: string
  readonly services: GatewayServices & { readonly store: Parameters<typeof startLease>[0]['store'] }
  /** How long a robot in a session may take to reconnect to another gateway before it counts as lost. */
  readonly handoverMs: number
  readonly fail: ThreadSupervisor['fail']
  readonly onHandlerFailed: ThreadSupervisor['onHandlerFailed']
  readonly onHandlerLong: ThreadSupervisor['onHandlerLong']
}

/** Starts the gateway of this process and its lease, in a separate thread unless the configuration says otherwise. */
export async function runGateway(deps: GatewayRoleDeps) {
  const { config, services, nodeId, guard, log } = deps
  const gateway = config.gatewayThread ? await startInThread(deps) : await startHere(deps)
  const url = config.gatewayUrlFromPort ? `ws://localhost:${gateway.port}` : config.gatewayUrl
  const { store } = services
  const { heartbeatTimeoutMs } = config
  const { stalledMs } = gateway
  const lease = await startLease({ store, nodeId, url, heartbeatTimeoutMs, stalledMs, guard, log })
  return {
    gateway,
    url,
    async drain(): Promise<void> {
      lease.stop()
      await gateway.drain()
    },
    async close(): Promise<void> {
      await gateway.close()
      await lease.remove()
    },
  }
}

async function startInThread(deps: GatewayRoleDeps): Promise<Gateway> {
  const { startGatewayThread } = await import('./thread/gateway-thread.ts')
  const { config, services, bus, nodeId, handoverMs, allowedOrigins } = deps
  return await startGatewayThread(
    services,
    bus,
    {
      nodeId,
      handoverMs,
      allowedOrigins,
      host: config.host,
      port: config.gatewayPort,
      settings: settingsOf(deps),
      rootKey: config.secretKey ?? loadOrCreateRootKey(config.dataDir),
      logLevel: config.logLevel,
      prettyLog: process.stdout.isTTY === true,
      realTime: config.gatewayRealTime,
      limitsFrames: limitsFrames(config),
    },
    deps,
  )
}

async function startHere(deps: GatewayRoleDeps): Promise<Gateway> {
  const { startGateway } = await import('./index.ts') // loads the uWebSockets binary
  const { config, services, handoverMs } = deps
  const presence = createPresence({
    ...deps,
    store: services.store,
    sessions: services.sessionPresence,
    heartbeatTimeoutMs: config.heartbeatTimeoutMs,
    handoverMs,
  })
  return await startGateway(
    {
      ...deps,
      ...services,
      presence,
      accounts: services,
      frameTime: createFrameTime({ limited: limitsFrames(config), guard: deps.guard }),
      recorderAuthorization: () => createRecorderAuthorization(deps.secrets).sign(Date.now()),
      settings: settingsOf(deps),
      metricsPage: services.metrics.page,
    },
    config.host,
    config.gatewayPort,
  )
}

const limitsFrames = ({ rateLimits }: GatewayConfig): boolean => rateLimits.perMinute > 0

/** Returns the settings as plain data. */
const settingsOf = ({ config, baseUrl }: GatewayRoleDeps): GatewayDeps['settings'] => ({
  apiUrl: baseUrl,
  heartbeatIntervalMs: config.heartbeatIntervalMs,
  heartbeatTimeoutMs: config.heartbeatTimeoutMs,
  deadmanMs: config.deadmanMs,
  operatorGraceMs: config.operatorGraceMs,
  robotConnectsPerMinute: config.robotConnectsPerMinute,
  dataChannel: config.dataChannel,
})

const RENEW_MS = 1_000
/** Short, so that a gateway that was suspended renews soon after it continues. */
const CHECK_MS = 250

/**
 * Renews the row of a gateway, without which workers declare its robots lost. A relay that makes no progress for half of the heartbeat
 * timeout cannot stop a robot either, so its row is not renewed until it continues. Resolves after the first attempt to renew.
 */
async function startLease(deps: {
  store: Pick<PresenceStore, 'renewNode' | 'removeNode'>
  nodeId: string
  /** The address under which operators reach the gateway. */
  url: string
  heartbeatTimeoutMs: number
  /** Returns how long the relay has made no progress, in milliseconds. */
  stalledMs: () => number
  guard: Guard
  log: Log
}) {
  const { store, nodeId, url, stalledMs, guard, log } = deps
  const stallLimitMs = Math.max(RENEW_MS, deps.heartbeatTimeoutMs / 2)
  let stopped = false
  let renewedMs = Number.NEGATIVE_INFINITY
  let problem: 'stalled' | 'unreachable' | undefined

  function note(next: typeof problem, report: () => void): void {
    if (next !== problem) report()
    problem = next
  }

  const renew = singleFlight(async () => {
    if (stopped || performance.now() - renewedMs < RENEW_MS) return
    const ms = stalledMs()
    if (ms > stallLimitMs)
      return note('stalled', () =>
        log.error(
          { ms },
          'the control relay makes no progress; the gateway counts as dead until it continues',
        ),
      )
    const startedMs = performance.now()
    try {
      await store.renewNode(nodeId, url)
      renewedMs = startedMs
      note(undefined, () => {})
    } catch (cause) {
      note('unreachable', () => log.warn({ err: cause }, 'failed to renew the row of the gateway; retrying'))
    }
  })

  await renew()
  const timer = guard.every('timer:lease', CHECK_MS, renew)
  return {
    /** Ends the renewals: the gateway drains. */
    stop(): void {
      stopped = true
      clearInterval(timer)
    },
    /** Removes the row, unless robots are handed over from it. Without the database, the sweep removes it. */
    async remove(): Promise<void> {
      await renew() // waits for a running renewal, which would restore the row
      await store.removeNode(nodeId).catch(() => {})
    },
  }
}
