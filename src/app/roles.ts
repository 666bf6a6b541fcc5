import type { Middleware } from 'koa'
import pTimeout from 'p-timeout'
import { singleFlight } from '../core/concurrency/concurrency.ts'
import { type Listener, listen } from '../core/http/listener.ts'
import { startPeriodicTasks } from '../core/jobs/periodic-tasks.ts'
import type { Queue } from '../core/jobs/queue.ts'
import type { Log } from '../core/log.ts'
import { measureGateway, measureHub, measureMedia, measureRecorder } from '../core/metrics/role-metrics.ts'
import { createRecorderAuthorization } from '../core/recording/recorder-authorization.ts'
import { createPresenceStore, createSweep } from '../modules/presence/index.ts'
import { isDatabaseReachable } from '../web/site/health.ts'
import { probeHandler } from '../web/site/probes.ts'
import { createApi } from './api.ts'
import type { Config } from './config.ts'
import { createPlatform, type OfferedAccount, type Platform } from './container.ts'
import { checkDevelopmentAccess } from './exposure.ts'

const SHUTDOWN_STEP_MS = 8_000
const READINESS_CHECK_MS = 1_000
const PRESENCE_POOL_SIZE = 3

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

/**
 * Returns how long a robot in a session may take to reconnect to another gateway before it counts as lost. The limit
 * equals the grace period of its operator, who reconnects as well.
 */
const handoverMs = ({ operatorGraceMs, robotGraceMs, heartbeatTimeoutMs }: Config) =>
  Math.max(heartbeatTimeoutMs, Math.min(operatorGraceMs, robotGraceMs))

interface ShutdownSteps {
  /** Steps that stop accepting work and redirect peers to other processes. */
  drain: (() => Promise<unknown>)[]
  close: (() => Promise<unknown>)[]
}

export interface RolesOptions {
  readonly now?: () => Date
  /** How long a stop at the hub waits for the database. Default: 0.5 s. Tests on a busy machine need longer. */
  readonly stopWaitMs?: number | undefined
  /** Additional pages of the api. */
  readonly pages?: readonly Middleware[]
  /** The accounts of the built-in identity provider. */
  readonly accounts?: readonly OfferedAccount[]
  /** Runs before every guarded handler. Tests throw from it. */
  readonly beforeHandler?: ((handler: string) => void) | undefined
  /** Whether workers look for abandoned jobs. Default: true. Tests that move the clock turn it off. */
  readonly superviseJobs?: boolean | undefined
  /** How long a response of the contact form waits for the mail server. Default: 3 s. Tests on a busy machine need longer. */
  readonly contactWaitMs?: number | undefined
  /** Longest time that a request waits for Redis to count it. Default: 100 ms. Tests on a busy machine need longer. */
  readonly redisCommandMs?: number | undefined
  /** The time limit of a shutdown step. After it, the next step starts. Default: 8 s. Tests on a busy machine need longer. */
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

    if (config.roles.includes('recorder')) await startRecorderRole(platform, shutdown)
    const gatewayUrl = config.roles.includes('gateway')
      ? await startGatewayRole(platform, shutdown)
      : config.gatewayUrl
    if (config.roles.includes('media')) await runMediaRole(platform, shutdown)
    if (http) {
      platform.webhooks.longPolling.listen()
      http.serve(createApi(platform, { gatewayUrl: () => gatewayUrl, readiness, pages }))
      const { serveFoxglove } = await import('./foxglove.ts')
      shutdown.drain.push(serveFoxglove(platform, http))
    }
    if (hubHttp) {
      if (hubHttp !== http) hubHttp.serve(probeHandler(readiness, platform.core.metricsPage))
      await runHub(platform, hubHttp, shutdown, options.stopWaitMs)
    }
    if (config.roles.includes('worker')) runWorker(platform, shutdown)
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

async function startGatewayRole(platform: Platform, shutdown: ShutdownSteps): Promise<string> {
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
  })
  measureGateway(core.metrics, gateway)
  shutdown.drain.push(drain)
  shutdown.close.push(close)
  return url
}

async function startRecorderRole(platform: Platform, shutdown: ShutdownSteps): Promise<void> {
  const { runRecorder } = await import('../recorder/role.ts')
  const { core, recordings } = platform
  const recorder = await runRecorder({
    ...core,
    services: { streams: recordings.streams },
    nodes: recordings.recorderNodes,
    nodeId: core.processId,
    guard: core.guards.recorder,
    onHandlerFailed: (handler) => core.metrics.handlerFailed('recorder', handler),
  })
  measureRecorder(core.metrics, recorder)
  shutdown.drain.push(recorder.drain)
  shutdown.close.push(recorder.close)
}

async function runMediaRole(
  { core, video, recordings, webhooks }: Platform,
  shutdown: ShutdownSteps,
): Promise<void> {
  const { runMedia } = await import('../media/role.ts')
  const media = await runMedia({
    ...core,
    store: video.cameraStore,
    recorders: { ...recordings.recorderNodes, ...createRecorderAuthorization(core.secrets) },
    openPictures: webhooks.outboundClient.open,
    addGapOfSession: recordings.streams.addGapOfSession,
    guard: core.guards.media,
    nodeId: core.processId,
  })
  measureMedia(core.metrics, media)
  shutdown.close.push(media.close)
}

async function runHub(
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
      currentCaller: async (caller) => ({
        ...caller,
        roles: await identity.users.currentRoles(caller.userId),
      }),
    },
    http.server,
  )
  measureHub(metrics, hub)
  shutdown.drain.push(hub.close)
}

function runWorker(platform: Platform, shutdown: ShutdownSteps): void {
  const { core, sessions, robots, webhooks, recordings, datasets } = platform
  const { config, log, now, databaseUrl } = core
  const store = createPresenceStore({ databaseUrl, poolSize: 1, onPoolCreated: core.diskWatch.attach })
  shutdown.close.push(() => store.close())
  const sweep = createSweep({
    store,
    sessions: sessions.presence,
    lifecycle: sessions.lifecycle,
    log,
    nodeTimeoutMs: config.heartbeatTimeoutMs,
    handoverMs: handoverMs(config),
    robotGraceMs: config.robotGraceMs,
    now,
    monotonicMs: () => performance.now(),
  })
  const tasks = startPeriodicTasks(
    [
      { name: 'presence sweep', everyMs: 500, run: sweep.run },
      { name: 'scheduled starts', everyMs: 1_000, run: sessions.schedule.run },
      { name: 'abandoned sessions', everyMs: 1_000, run: sessions.abandonment.run },
      { name: 'robot log events', everyMs: 1_000, run: robots.robotLogJobs.publishEvents },
      { name: 'low batteries', everyMs: 1_000, run: robots.batteryJob.run },
      { name: 'outbound events', everyMs: 250, run: webhooks.fanOut.run },
      { name: 'ended recordings', everyMs: 1_000, run: recordings.sweep.run },
      { name: 'abandoned episodes', everyMs: 1_000, run: datasets.episodeMarks.endAbandoned },
    ],
    log,
    core.metrics.periodicTask,
  )
  shutdown.drain.push(tasks.close)
}

/**
 * Returns which queues a process runs: a worker all of them, an api those whose result a request waits for, so that the
 * request also learns it while the database is away.
 */
const queuesOf = ({ roles }: Config) => {
  const [isWorker, isApi] = [roles.includes('worker'), roles.includes('api')]
  return ({ runsInApi = false }: Queue) => isWorker || (isApi && runsInApi)
}

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

function createStop(
  shutdown: ShutdownSteps,
  stepMs: number,
  log: Log,
  markNotReady: () => void,
): () => Promise<void> {
  let stopping: Promise<void> | undefined
  const step = (work: () => Promise<unknown>) =>
    pTimeout(work(), {
      milliseconds: stepMs,
      message: 'the step exceeded its time limit; continuing with the next step',
    }).catch((cause) => log.error({ err: cause }, 'shutdown step failed'))
  const stop = async () => {
    markNotReady()
    await Promise.all(shutdown.drain.map(step))
    for (const close of shutdown.close.toReversed()) await step(close)
  }
  return () => {
    stopping ??= stop()
    return stopping
  }
}
