import { handoverMs } from '../app/config.ts'
import type { Platform } from '../app/container.ts'
import { measureGateway } from '../core/metrics/role-metrics.ts'
import { createPresenceStore } from '../modules/presence/index.ts'
import type { ShutdownSteps } from './shutdown.ts'

const PRESENCE_POOL_SIZE = 3

/** Starts the role gateway. Returns its address for robots and participants. */
export async function startGatewayRole(platform: Platform, shutdown: ShutdownSteps): Promise<string> {
  const { runGateway } = await import('../../gateway/role.ts')
  const { core, identity, sessions, robots } = platform
  const { config, databaseUrl, baseUrl, processId } = core
  const store = createPresenceStore({
    databaseUrl,
    poolSize: PRESENCE_POOL_SIZE,
    onPoolCreated: core.diskWatch.attach,
  })
  shutdown.close.push(() => store.close())
  const services = {
    store,
    sessionPresence: sessions.presence,
    episodeStore: platform.datasets.episodeStore,
    logStore: robots.robotLogStore,
    controlPersistence: sessions.controlPersistence,
    ticketStore: sessions.ticketStore,
    recorderNodes: platform.recordings.recorderNodes,
    streams: platform.recordings.streams,
    apiKeys: identity.apiKeys,
    users: identity.users,
    metrics: { page: core.metricsPage },
  }
  const { gateway, url, drain, close } = await runGateway({
    ...core,
    services,
    tokens: robots.robotTokens,
    tickets: sessions.tickets,
    guard: core.guards.gateway,
    nodeId: processId,
    handoverMs: handoverMs(config),
    allowedOrigins: [new URL(baseUrl).origin, ...config.corsOrigins],
    onHandlerFailed: (handler) => core.metrics.handlerFailed('gateway', handler),
    onHandlerLong: (handler) => core.metrics.longStep('gateway', handler),
  })
  measureGateway(core.metrics, gateway)
  shutdown.drain.push(drain)
  shutdown.close.push(close)
  return url
}
