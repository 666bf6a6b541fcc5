import type { Platform } from '../app/container.ts'
import type { Listener } from '../core/http/listener.ts'
import { measureHub } from '../core/metrics/role-metrics.ts'
import type { ShutdownSteps } from './shutdown.ts'

/** Starts the role hub on an HTTP server. @param stopWaitMs how long a stop waits for the database; default: 0.5 s */
export async function startHubRole(
  platform: Platform,
  http: Listener,
  shutdown: ShutdownSteps,
  stopWaitMs: number | undefined,
): Promise<void> {
  const { startHub } = await import('../../hub/server.ts')
  const { core, identity, sessions } = platform
  const { config, baseUrl, hubRedis, metrics } = core
  const hub = await startHub(
    {
      ...core,
      ...identity,
      ...platform.notifications,
      ...platform.robots,
      ...sessions,
      guard: core.guards.hub,
      redis: hubRedis,
      allowedOrigins: [new URL(baseUrl).origin, ...config.corsOrigins],
      trustedProxies: config.trustedProxies,
      handshakesPerMinute: config.rateLimits.publicPerMinute,
      authFailed: metrics.hubAuthFailed,
      stopWaitMs,
      currentCaller: identity.auth.currentCaller,
    },
    http.server,
  )
  measureHub(metrics, hub)
  shutdown.drain.push(hub.close)
}
