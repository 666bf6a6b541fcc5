import { singleFlight } from '../src/core/concurrency/concurrency.ts'
import type { Bus } from '../src/core/events/bus.ts'
import type { Log } from '../src/core/log.ts'
import type { MetricsPage } from '../src/core/metrics/metrics-http.ts'
import type { Guard } from '../src/core/process/guard.ts'
import type { Presence } from '../src/modules/presence/index.ts'
import type { RobotTokens } from '../src/modules/robots/index.ts'
import type { Tickets } from '../src/modules/sessions/index.ts'
import { createGatewayClock, StallClock } from './base/clock.ts'
import type { FrameTime } from './base/frame-time.ts'
import type { GatewayCounter } from './base/gateway-counter.ts'
import type { GatewayServices } from './base/services.ts'
import { createTimerWheel } from './base/timer-wheel.ts'
import type { CreateChannelHost } from './channel/channel-host.ts'
import { createGatewayChannels, type DataChannelSettings } from './channel/channel-offers.ts'
import { createControlSessionService, MEASURE_SLOTS } from './control/control-session-service.ts'
import { createSessionRecording } from './recording/session-recording.ts'
import { createHeartbeatAnswers, createHeartbeats } from './robots/heartbeats.ts'
import type { RobotConnection } from './robots/robot-connection.ts'
import { createRobotConnections, type RobotSettings } from './robots/robot-connections.ts'
import { createRobotFrames } from './robots/robot-frames.ts'
import { createReconciler, createRobotSync } from './robots/robot-sync.ts'
import { createConnectionAdmission, createConnectLimit } from './server/connection-admission.ts'
import { drainConnections } from './server/drain.ts'
import { type ListenForConnections, listenForConnections } from './server/server.ts'
import { createBatteryFeed } from './writer/battery-feed.ts'
import { createEpisodes } from './writer/episodes.ts'
import { createRobotLogs } from './writer/robot-logs.ts'

const WHEEL_TICK_MS = 50
const HOUSEKEEPING_MS = 1_000
const MAINTENANCE_MS = 250
const MEASURE_MS = 1_000
/** Observers give no sign of life but pongs, so one lost ping must not end their connections. */
const PINGS_PER_TIMEOUT = 3
/** A peer that has not read for this long is closed. */
const BLOCKED_LIMIT_MS = 10_000
const RECONCILE_MS = 10_000
/** Permissions must end within a second of their revocation, also if the hint is lost. */
const CHECK_PERMISSIONS_MS = 500

export interface GatewayDeps
  extends Pick<
    GatewayServices,
    'store' | 'episodeStore' | 'logStore' | 'controlPersistence' | 'ticketStore' | 'recorderNodes' | 'streams'
  > {
  readonly presence: Presence
  readonly accounts: Pick<GatewayServices, 'apiKeys' | 'users'>
  readonly tokens: RobotTokens
  readonly tickets: Tickets
  /** Returns the header Authorization for recorders. */
  readonly recorderAuthorization: () => string
  readonly bus: Bus
  readonly log: Log
  readonly guard: Guard
  readonly frameTime: FrameTime
  readonly nodeId: string
  readonly settings: RobotSettings & {
    readonly operatorGraceMs: number
    readonly robotConnectsPerMinute: number
    /** Null to use WebSockets only. */
    readonly dataChannel: DataChannelSettings | null
  }
  readonly allowedOrigins: readonly string[]
  /** Renders the response to GET /metrics. */
  readonly metricsPage: MetricsPage
}

export interface Gateway {
  readonly port: number
  /** The number of robot connections. */
  readonly connections: number
  /** The number of connections of operators and observers. */
  readonly participants: number
  /** The number of control sessions. */
  readonly sessions: number
  /** The number of sessions whose robots may not drive at full speed. */
  readonly limitedSessions: number
  readonly counts: Readonly<Record<GatewayCounter, number>>
  /** Returns how long the gateway has made no progress, in milliseconds. */
  stalledMs(): number
  /** Refuses new connections, writes all pending data and closes all connections. The caller limits its time. */
  drain(): Promise<void>
  close(): Promise<void>
}

/**
 * Starts the gateway: it connects robots with their operators and observers, and records their presence.
 * @param listen opens the port; tests of control without sockets replace it
 * @param createChannelHost creates the data channels; the same tests replace it
 */
export async function startGateway(
  deps: GatewayDeps,
  host: string,
  port: number,
  listen: ListenForConnections = listenForConnections,
  createChannelHost?: CreateChannelHost,
): Promise<Gateway> {
  const { presence, store, tokens, tickets, bus, log, guard, nodeId, settings, frameTime } = deps
  const { clockMs, unixMs } = createGatewayClock()
  const stallClock = new StallClock(WHEEL_TICK_MS, clockMs())
  const { offers: channelOffers, close: closeChannels } = createGatewayChannels(
    { settings: settings.dataChannel, host, webSocketPort: () => server.port, guard, log, clockMs },
    createChannelHost,
  )
  const battery = createBatteryFeed({ unixMs })
  const controlService = createControlSessionService({
    controlPersistence: deps.controlPersistence,
    ticketStore: deps.ticketStore,
    accounts: deps.accounts,
    bus,
    log,
    guard,
    nodeId,
    settings,
    battery,
    stallClock,
    channelOffers,
    frameTime,
    clockMs,
    requestLookup: (robotIds) => sync.requestLookup(robotIds),
    pollChanges: () => sync.poll(),
    onSessionChange: (controlSession) => recording.sync(controlSession),
  })
  const { sessionRegistry, controlRelay, participants } = controlService
  const recording = createSessionRecording({ ...deps, sessionRegistry, clockMs })
  const sync = createRobotSync({
    store,
    nodeId,
    bus,
    guard,
    log,
    sessionRegistry,
    clockMs,
    connectionOf: (robotId) => robots.current(robotId),
    readmit: (connection) => robots.readmit(connection),
    isReadmitting: (connection) => robots.isReadmitting(connection),
    isAdmitting: (robotId) => robots.isAdmitting(robotId),
  })
  const heartbeats = createHeartbeats({
    store,
    log,
    unixMs,
    onMismatch: (connections) => sync.requestLookup(connections.map((connection) => connection.robotId)),
  })
  const heartbeatAnswers = createHeartbeatAnswers({ unixMs })
  const wheel = createTimerWheel<RobotConnection>({
    timeoutMs: settings.heartbeatTimeoutMs,
    tickMs: WHEEL_TICK_MS,
    onSilent: guard.handler(
      'robot:silent',
      (connection: RobotConnection) => robots.onSilence(connection),
      (connection) => connection.terminate(),
    ),
  })
  const episodes = createEpisodes({
    store: deps.episodeStore,
    log,
    connectionOf: (robotId) => robots.current(robotId),
    clockMs,
    unixMs,
  })
  const logs = createRobotLogs({
    store: deps.logStore,
    log,
    unixMs,
    clockMs,
    connectionOf: (robotId) => robots.current(robotId),
  })
  const frames = createRobotFrames({
    enqueueHeartbeat: heartbeats.enqueue,
    answerHeartbeat: heartbeatAnswers.answer,
    acceptEpisode: episodes.accept,
    acceptLogLine: logs.accept,
    controlRelay,
    guard,
    frameTime,
    clockMs,
    channelOffers,
    onRoundTrip: controlService.robotMeasured,
    battery,
    stallClock,
  })
  const robots = createRobotConnections({
    presence,
    frames,
    frameTime,
    channelOffers,
    sessionRegistry,
    wheel,
    requestLookup: sync.requestLookup,
    settings,
    log,
    unixMs,
    clockMs,
    isDraining: () => draining,
    isHandingOver: () => handingOver,
  })

  let draining = false
  let handingOver = false
  let databaseOk = false
  let revokedTickets = 0
  const connectionAdmission = createConnectionAdmission({
    tokens,
    tickets,
    allowedOrigins: deps.allowedOrigins,
    clockMs,
    connectLimit: createConnectLimit({ perMinute: settings.robotConnectsPerMinute, clockMs }),
    isDraining: () => draining,
    revocations: controlService.revocations,
    onRevokedTicket: () => {
      revokedTickets++
    },
  })
  const server = await listen(
    {
      connectionAdmission,
      robots: { ...robots, drained: controlRelay.robotDrained, pong: controlService.robotAnswered },
      participants: { ...participants, ...controlService.participantEvents },
      guard,
      metricsPage: deps.metricsPage,
      isReady: () => databaseOk && !draining,
    },
    host,
    port,
  )
  function* connections() {
    yield* robots.all()
    yield* participants.all()
  }

  const closeBlocked = () => {
    const nowMs = clockMs()
    for (const connection of connections()) {
      if (connection.blockedSinceMs !== 0 && nowMs - connection.blockedSinceMs > BLOCKED_LIMIT_MS)
        connection.close('tooSlow')
    }
  }
  const findSilentRobots = () => {
    const nowMs = clockMs()
    if (!stallClock.tick(nowMs)) return wheel.advance(nowMs)
    // Frames that arrived during the stall are read before the next tick. Participants are asked for a sign of life first.
    for (const participant of participants.all()) participant.recordSign(nowMs)
  }
  let closed = false
  const housekeep = singleFlight(async () => {
    if (closed) return
    try {
      await sync.poll()
      databaseOk = true
    } catch (cause) {
      if (databaseOk)
        log.warn({ err: cause }, 'the database is unavailable; the gateway continues without it')
      databaseOk = false
    }
  })
  const reconciler = createReconciler({
    store,
    nodeId,
    presence,
    epochOf: (id) => robots.current(id)?.epoch,
    localConnections: () => robots.all(),
    requestLookup: sync.requestLookup,
  })
  const reconcile = singleFlight(() =>
    reconciler.run().catch((cause) => log.warn({ err: cause }, 'failed to reconcile presence')),
  )
  await housekeep()
  const stopListening = [sync.listen(), controlService.listen(), recording.start()]
  const measureMs = Math.min(MEASURE_MS, settings.heartbeatTimeoutMs / PINGS_PER_TIMEOUT)
  const timers = [
    guard.every('timer:wheel', WHEEL_TICK_MS, findSilentRobots),
    guard.every('timer:heartbeats', heartbeats.sliceMs, heartbeats.tick),
    guard.every('timer:heartbeat-answers', heartbeatAnswers.roundMs, () => heartbeatAnswers.round(clockMs())),
    guard.every('timer:logs', logs.tickMs, logs.tick),
    // Separate timers, so that a failure or a slow database affects only one of them.
    guard.every('timer:repeat-stops', MAINTENANCE_MS, controlService.repeatStops),
    guard.every('timer:admissions', MAINTENANCE_MS, controlService.retryAdmissions),
    // After a stall, the tick of the wheel comes first: it gives participants time for a sign of life.
    guard.every('timer:silence', MAINTENANCE_MS, () => {
      if (!stallClock.isLate(clockMs())) controlService.terminateSilent()
    }),
    guard.every('timer:session-writer', MAINTENANCE_MS, controlService.startWrites),
    guard.every('timer:pending-admissions', MAINTENANCE_MS, robots.expirePendingAdmissions),
    guard.every('timer:blocked', MAINTENANCE_MS, closeBlocked),
    guard.every('timer:latency', measureMs / MEASURE_SLOTS, controlService.measure),
    guard.every('timer:housekeeping', HOUSEKEEPING_MS, housekeep),
    guard.every('timer:permissions', CHECK_PERMISSIONS_MS, controlService.checkPermissions),
    // While it drains, the gateway hands its robots over.
    guard.every('timer:reconcile', RECONCILE_MS, () => draining || reconcile()),
  ]

  return {
    port: server.port,
    get connections() {
      return robots.size
    },
    get participants() {
      return participants.size
    },
    get sessions() {
      return sessionRegistry.size
    },
    get limitedSessions() {
      return controlService.limitedSessions
    },
    get counts() {
      const { written: heartbeatsWritten, lastFlushMs } = heartbeats.counts
      const ticketsRefused = revokedTickets + participants.refused
      const { counts } = controlService
      const heartbeatCounts = { ...heartbeatAnswers.counts, heartbeatsWritten, lastFlushMs }
      return {
        ...frames.counts,
        ...frameTime.counts,
        ...counts,
        ...logs.counts,
        ...heartbeatCounts,
        ticketsRefused,
      }
    },
    stalledMs: () => 0, // the caller runs in the same thread
    async drain() {
      draining = true
      server.stopListening()
      await drainConnections({
        connections,
        heartbeats,
        episodes,
        logs,
        controlService,
        presence,
        store,
        nodeId,
        log,
        clockMs,
        recording,
        onHandOver: () => {
          handingOver = true
        },
      })
    },
    async close() {
      for (const timer of timers) clearInterval(timer)
      closed = true
      episodes.stop()
      logs.stop()
      for (const stop of stopListening) stop()
      controlService.haltAll('gateway_draining') // in case the drain did not finish
      recording.stop()
      server.close()
      closeChannels()
    },
  }
}
