import type { Middleware } from 'koa'
import type { Config } from '../app/config.ts'
import { createPlatform, type Platform } from '../app/container.ts'
import { singleFlight } from '../core/concurrency/concurrency.ts'
import { type Listener, listen } from '../core/http/listener.ts'
import type { Queue } from '../core/jobs/queue.ts'
import type { Log } from '../core/log.ts'
import type { DevAccount } from '../modules/identity/index.ts'
import { createApi } from './api/api.ts'
import { isDatabaseReachable } from './api/site/health.ts'
import { probeHandler } from './api/site/probes.ts'
import { checkDevelopmentAccess } from './exposure.ts'
import { startGatewayRole } from './gateway.ts'
import { startHubRole } from './hub.ts'
import { createStop, type ShutdownSteps } from './shutdown.ts'
import { startWorkerRole } from './worker.ts'

const READINESS_CHECK_MS = 1_000

/**
 * Sets the readiness from the state of the database, so that a load balancer sends no requests to a process that can
 * only respond 503.
 */
function watchReadiness(
  { core: { db, diskWatch, guards } }: Platform,
  shutdown: ShutdownSteps,
  report: (notReadyReason: string | undefined) => void,
): void {
  let stopping = false
  const check = singleFlight(async () => {
    await diskWatch.check(db)
    const reachable = await isDatabaseReachable(db)
    if (stopping) return
    if (diskWatch.full) report('the disk of the database is full')
    else report(reachable ? undefined : 'the database does not respond')
  })
  const timer = guards.process.every('timer:readiness', READINESS_CHECK_MS, check)
  shutdown.drain.unshift(async () => {
    stopping = true
    clearInterval(timer)
  })
}

/** Opens the HTTP servers of this process. The hub shares the server of the api when both roles run here. */
async function openListeners(config: Config, shutdown: ShutdownSteps, stepMs: number) {
  const { roles, host } = config
  const open = async (port: number, variable: string): Promise<Listener> => {
    const listener = await listen(host, port, variable)
    shutdown.drain.push(() => listener.close(stepMs / 2)) // running requests still need the platform
    return listener
  }
  const http = roles.includes('api') ? await open(config.port, 'PORT') : undefined
  const hubHttp = roles.includes('hub') ? (http ?? (await open(config.hubPort, 'HUB_PORT'))) : undefined
  const hasOwnProbes = ['worker', 'media', 'recorder'].some((role) => roles.some((own) => own === role))
  const workerPort = hasOwnProbes ? config.workerPort : undefined
  const workerHttp = workerPort === undefined ? undefined : await open(workerPort, 'WORKER_PORT')
  return { http, hubHttp, workerHttp }
}

/** Longer than a gateway waits for a database that does not answer, and closes its connections. */
const SHUTDOWN_STEP_MS = 10_000

export interface RunningPlatform {
  readonly platform: Platform
  readonly baseUrl: string
  readonly hubUrl: string
  readonly gatewayUrl: string
  /** Resolves with the reason when the platform cannot continue. */
  readonly failure: Promise<Error>
  /**
   * Stops in order: readiness off, no new connections, drain, flush, close. Each step has a time limit. Safe to call
   * twice.
   */
  stop(): Promise<void>
}

export interface RolesOptions {
  readonly now?: () => Date
  /** How long a stop at the hub waits for the database. Default: 0.5 s. Tests on a busy machine need longer. */
  readonly stopWaitMs?: number | undefined
  /** Additional pages of the api. */
  readonly pages?: readonly Middleware[]
  /** The accounts of the built-in identity provider. */
  readonly accounts?: readonly DevAccount[]
  /** Runs before every guarded handler. Tests throw from it. */
  readonly beforeHandler?: ((handler: string) => void) | undefined
  /** Whether workers look for abandoned jobs. Default: true. Tests that move the clock turn it off. */
  readonly superviseJobs?: boolean | undefined
  /** How long a response of the contact form waits for the mail server. Default: 3 s. Tests on a busy machine need longer. */
  readonly contactWaitMs?: number | undefined
  /** Longest time that a request waits for Redis to count it. Default: 100 ms. Tests on a busy machine need longer. */
  readonly redisCommandMs?: number | undefined
  /** The time limit of a shutdown step. After it, the next step starts. Default: 10 s. Tests on a busy machine need longer. */
  readonly shutdownStepMs?: number | undefined
}

/** Starts the roles of this process. Closes the started roles when a later one fails. */
export async function startRoles(
  config: Config,
  log: Log,
  options: RolesOptions = {},
): Promise<RunningPlatform> {
  const { now = () => new Date(), pages = [], accounts = [] } = options
  const stepMs = options.shutdownStepMs ?? SHUTDOWN_STEP_MS
  const shutdown: ShutdownSteps = { drain: [], close: [] }
  const failure = Promise.withResolvers<Error>()
  let notReadyReason: string | undefined = 'starting'
  const readiness = () => notReadyReason
  const stop = createStop(shutdown, stepMs, log, () => {
    notReadyReason = 'ending'
  })
  try {
    const { http, hubHttp, workerHttp } = await openListeners(config, shutdown, stepMs)
    const baseUrl = config.baseUrlFromPort && http ? `http://localhost:${http.port}` : config.baseUrl
    const exposure = http && checkDevelopmentAccess({ ...config, baseUrl }, http.address)
    if (exposure !== undefined)
      log.warn(`INSECURE: anyone can sign in as anyone without a password: ${exposure}`)
    const platform = await createPlatform(config, {
      ...options,
      log,
      now,
      baseUrl,
      insecure: exposure !== undefined,
      fail: failure.resolve,
      accounts,
    })
    shutdown.close.push(platform.close)
    shutdown.drain.push(() => platform.webhooks.longPolling.close())
    shutdown.drain.push(() => platform.core.jobs.drain())

    if (config.roles.includes('recorder')) {
      const { startRecorderRole } = await import('./recorder/role.ts')
      await startRecorderRole(platform, shutdown)
    }
    const gatewayUrl = config.roles.includes('gateway')
      ? await startGatewayRole(platform, shutdown)
      : config.gatewayUrl
    if (config.roles.includes('media')) {
      const { startMediaRole } = await import('./media/role.ts')
      await startMediaRole(platform, shutdown)
    }
    if (http) {
      platform.webhooks.longPolling.listen()
      http.serve(createApi(platform, { ...options, gatewayUrl: () => gatewayUrl, readiness, pages }))
      const { guards, threadTime } = platform.core
      const lagTimer = guards.api.every('timer:event-loop', threadTime.lagCheckMs, threadTime.checkLag)
      shutdown.close.push(async () => clearInterval(lagTimer))
      const { serveFoxglove } = await import('./api/serve-foxglove.ts')
      shutdown.drain.push(serveFoxglove(platform, http))
    }
    if (hubHttp) {
      if (hubHttp !== http) hubHttp.serve(probeHandler(readiness, platform.core.metricsPage))
      await startHubRole(platform, hubHttp, shutdown, options.stopWaitMs)
    }
    if (config.roles.includes('worker')) startWorkerRole(platform, shutdown)
    await platform.core.jobs.start(queuesOf(config))
    workerHttp?.serve(probeHandler(readiness, platform.core.metricsPage))

    notReadyReason = undefined
    watchReadiness(platform, shutdown, (found) => {
      notReadyReason = found
    })
    const hubUrl = hubHttp && hubHttp !== http ? `http://localhost:${hubHttp.port}` : baseUrl
    return { platform, baseUrl, hubUrl, gatewayUrl, failure: failure.promise, stop }
  } catch (cause) {
    await stop()
    throw cause
  }
}

/**
 * Returns which queues a process runs: a worker all of them, an api those whose result a request waits for, so that the
 * request also learns it while the database is away.
 */
const queuesOf = ({ roles }: Config) => {
  const [isWorker, isApi] = [roles.includes('worker'), roles.includes('api')]
  return ({ runsInApi = false }: Queue) => isWorker || (isApi && runsInApi)
}
