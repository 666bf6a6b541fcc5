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
import type { GatewayServices } from './base/services.ts'
import type { CreateChannelHost } from './channel/channel-host.ts'
import { createGatewayChannels, type DataChannelSettings } from './channel/channel-offers.ts'
import { createControlRelay } from './control/control-relay.ts'
import { createControlSessionRegistry } from './control/control-session-registry.ts'
import { createGoals } from './control/goals.ts'
import { createLeaseChanges } from './control/lease-changes.ts'
import { createMeasuring, MEASURE_SLOTS } from './control/measuring.ts'
import { createStops } from './control/stops.ts'
import { createParticipantFrames } from './participants/participant-frames.ts'
import { createParticipants } from './participants/participants.ts'
import { createPermissions, createRevocations } from './participants/permissions.ts'
import { createSessionRecording } from './recording/session-recording.ts'
import { createHeartbeatAnswers, createHeartbeats } from './robots/heartbeats.ts'
import { ConnectedRobots, createRobotConnections, type RobotSettings } from './robots/robot-connections.ts'
import { createRobotFrames } from './robots/robot-frames.ts'
import { createReconciler, createRobotSync } from './robots/robot-sync.ts'
import { createConnectionAdmission } from './server/connection-admission.ts'
import { drainConnections } from './server/drain.ts'
import { type ListenForConnections, listenForConnections } from './server/server.ts'
import { createBatteryFeed } from './writer/battery-feed.ts'
import { createEpisodes } from './writer/episodes.ts'
import { createRobotLogs } from './writer/robot-logs.ts'
import { createSessionWriter } from './writer/session-writer.ts'

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

/** The counts of a gateway, for metrics. */
type GatewayCounter =
  | 'frames'
  | 'framesRefused'
  | 'logLines'
  | 'logLinesDropped'
  | 'heartbeats'
  | 'heartbeatsCoalesced'
  | 'heartbeatsWritten'
  | 'lastFlushMs'
  | 'passed'
  | 'dropped'
  | 'videoStale'
  | 'limited'
  | 'deadman'
  | 'stops'
  | 'ticketsRefused'

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
  const { bus, log, guard, settings, frameTime } = deps
  const parts = createParts(deps, host, createChannelHost)
  const { state, clockMs, stallClock, channels, sessionRegistry, connected, sync, sessionWriter } = parts
  const {
    controlRelay,
    goals,
    stops,
    leaseChanges,
    measuring,
    participants,
    permissions,
    recording,
    robots,
  } = parts
  const { heartbeats, heartbeatAnswers, episodes, logs, robotFrames, connectionAdmission, reconciler } = parts
  let databaseOk = false
  let closed = false

  const server = await listen(
    {
      connectionAdmission,
      robots: { ...robots, drained: controlRelay.robotDrained, pong: measuring.robotAnswered },
      participants: {
        ...participants,
        pong: measuring.participantAnswered,
        /** Counts as a sign of life: a slow participant gets no pings, but a dead one does not read either. */
        drained(connection) {
          connection.recordSign(clockMs())
          controlRelay.participantDrained(connection)
          goals.participantDrained(connection)
        },
      },
      guard,
      metricsPage: deps.metricsPage,
      isReady: () => databaseOk && !state.draining,
    },
    host,
    port,
  )
  state.webSocketPort = server.port

  function* connections() {
    yield* connected.all()
    yield* participants.all()
  }
  function closeBlocked(): void {
    const nowMs = clockMs()
    for (const connection of connections()) {
      if (connection.blockedSinceMs !== 0 && nowMs - connection.blockedSinceMs > BLOCKED_LIMIT_MS)
        connection.close('tooSlow')
    }
  }
  function findSilentRobots(): void {
    const nowMs = clockMs()
    if (!stallClock.tick(nowMs)) return robots.terminateSilent(nowMs)
    // Frames that arrived during the stall are read before the next tick. Participants are asked for a sign of life first.
    for (const participant of participants.all()) participant.recordSign(nowMs)
  }
  /** After a stall, the tick of the wheel comes first: it gives participants time for a sign of life. */
  function findSilentParticipants(): void {
    if (!stallClock.isLate(clockMs())) participants.terminateSilent()
  }
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
  const reconcile = singleFlight(() =>
    reconciler.run().catch((cause) => log.warn({ err: cause }, 'failed to reconcile presence')),
  )

  await housekeep()
  const subscriptions = [
    sync.listen(),
    guard.subscribe(bus, 'robot.stop', stops.onRemoteStop),
    guard.subscribe(bus, 'control.changing', leaseChanges.onChanging),
    guard.subscribe(bus, 'control.transferred', leaseChanges.onTransferred),
    permissions.listen(),
    recording.start(),
  ]
  const measureMs = Math.min(MEASURE_MS, settings.heartbeatTimeoutMs / PINGS_PER_TIMEOUT)
  /** Separate timers, so that a failure or a slow database affects only one of them. */
  const table: readonly (readonly [name: string, everyMs: number, run: () => unknown])[] = [
    ['timer:wheel', WHEEL_TICK_MS, findSilentRobots],
    ['timer:heartbeats', heartbeats.sliceMs, heartbeats.tick],
    ['timer:heartbeat-answers', heartbeatAnswers.roundMs, () => heartbeatAnswers.round(clockMs())],
    ['timer:logs', logs.tickMs, logs.tick],
    ['timer:repeat-stops', MAINTENANCE_MS, stops.repeatUnconfirmed],
    ['timer:admissions', MAINTENANCE_MS, participants.retryAdmissions],
    ['timer:silence', MAINTENANCE_MS, findSilentParticipants],
    ['timer:session-writer', MAINTENANCE_MS, sessionWriter.tick],
    ['timer:pending-admissions', MAINTENANCE_MS, robots.expirePendingAdmissions],
    ['timer:blocked', MAINTENANCE_MS, closeBlocked],
    ['timer:latency', measureMs / MEASURE_SLOTS, measuring.measureSlot],
    ['timer:housekeeping', HOUSEKEEPING_MS, housekeep],
    ['timer:permissions', CHECK_PERMISSIONS_MS, permissions.check],
    // While it drains, the gateway hands its robots over.
    ['timer:reconcile', RECONCILE_MS, () => state.draining || reconcile()],
  ]
  const timers = table.map(([name, everyMs, run]) => guard.every(name, everyMs, run))

  return {
    port: server.port,
    get connections() {
      return connected.size
    },
    get participants() {
      return participants.size
    },
    get sessions() {
      return sessionRegistry.size
    },
    get limitedSessions() {
      return sessionRegistry.limitedSize
    },
    get counts() {
      const { written: heartbeatsWritten, lastFlushMs } = heartbeats.counts
      return {
        ...robotFrames.counts,
        ...frameTime.counts,
        ...controlRelay.counts,
        ...stops.counts,
        ...logs.counts,
        ...heartbeatAnswers.counts,
        heartbeatsWritten,
        lastFlushMs,
        ticketsRefused: state.revokedTickets + participants.refused,
      }
    },
    stalledMs: () => 0, // the caller runs in the same thread
    async drain() {
      state.draining = true
      server.stopListening()
      await drainConnections({
        ...deps,
        connections,
        heartbeats,
        episodes,
        logs,
        sessionWriter,
        clockMs,
        recording,
        onHandOver: () => {
          state.handingOver = true
        },
      })
    },
    async close() {
      for (const timer of timers) clearInterval(timer)
      closed = true
      episodes.stop()
      logs.stop()
      for (const stop of subscriptions) stop()
      stops.haltAll('gateway_draining') // in case the drain did not finish
      recording.stop()
      server.close()
      channels.close()
    },
  }
}

/** Creates the parts of a gateway. Each part uses only those before it; `state` is what changes while the gateway runs. */
function createParts(deps: GatewayDeps, host: string, createChannelHost: CreateChannelHost | undefined) {
  const { store, controlPersistence, log, guard, nodeId, settings, frameTime } = deps
  const state = { webSocketPort: 0, draining: false, handingOver: false, revokedTickets: 0 }
  const { clockMs, unixMs } = createGatewayClock()
  const preciseMs = () => performance.now()
  const clocks = { clockMs, unixMs, preciseMs }
  const stallClock = new StallClock(WHEEL_TICK_MS, clockMs())
  const channels = createGatewayChannels(
    { settings: settings.dataChannel, host, webSocketPort: () => state.webSocketPort, guard, log, clockMs },
    createChannelHost,
  )
  const channelOffers = channels.offers

  // Sessions, and what the database says about them.
  const sessionRegistry = createControlSessionRegistry({ nodeId, clockMs })
  const connected = new ConnectedRobots()
  const connectionOf = (robotId: string) => connected.of(robotId)
  const sync = createRobotSync({
    ...deps,
    sessionRegistry,
    clockMs,
    connectionOf,
    isReadmitting: (connection) => connected.readmissions.has(connection),
    isAdmitting: (robotId) => connected.isAdmitting(robotId),
  })
  const { requestLookup } = sync
  const sessionWriter = createSessionWriter({
    controlPersistence,
    sessionRegistry,
    requestLookup,
    log,
    clockMs,
    operatorGraceMs: settings.operatorGraceMs,
  })
  const recording = createSessionRecording({ ...deps, sessionRegistry, clockMs })

  // Control.
  const controlRelay = createControlRelay({ guard, deadmanMs: settings.deadmanMs, preciseMs, clockMs })
  const goals = createGoals({ preciseMs, clockMs })
  const stops = createStops({ sessionRegistry, beginWrite: sessionWriter.begin, guard, clockMs })
  const leaseChanges = createLeaseChanges({ sessionRegistry, clockMs })
  const measuring = createMeasuring({ sessionRegistry, guard, preciseMs, clockMs })
  const battery = createBatteryFeed({ unixMs })

  // Operators and observers.
  const revocations = createRevocations(clockMs)
  const participantFrames = createParticipantFrames({
    ...clocks,
    controlRelay,
    goals,
    requestStop: stops.requestStop,
    channelOffers,
    frameTime,
    guard,
    onRoundTrip: measuring.operatorMeasured,
    stallClock,
    deadmanMs: settings.deadmanMs,
  })
  const participants = createParticipants({
    sessionRegistry,
    frames: participantFrames,
    battery,
    goals,
    requestStop: stops.requestStop,
    isRevoked: revocations.isRevoked,
    pollChanges: sync.poll,
    controlPersistence,
    channelOffers,
    log,
    clockMs,
    verdictOf: deps.ticketStore.verdictOf,
    silenceLimitMs: settings.heartbeatTimeoutMs,
  })
  const permissions = createPermissions({ ...deps, participants, revocations })

  // Robots.
  const heartbeats = createHeartbeats({
    store,
    log,
    unixMs,
    onMismatch: (connections) => requestLookup(connections.map((connection) => connection.robotId)),
  })
  const heartbeatAnswers = createHeartbeatAnswers({ unixMs })
  const episodes = createEpisodes({ store: deps.episodeStore, log, connectionOf, clockMs, unixMs })
  const logs = createRobotLogs({ store: deps.logStore, log, connectionOf, clockMs, unixMs })
  const robotFrames = createRobotFrames({
    enqueueHeartbeat: heartbeats.enqueue,
    answerHeartbeat: heartbeatAnswers.answer,
    acceptEpisode: episodes.accept,
    acceptLogLine: logs.accept,
    controlRelay,
    goals,
    guard,
    frameTime,
    clockMs,
    channelOffers,
    onRoundTrip: measuring.robotMeasured,
    battery,
    stallClock,
  })
  const robots = createRobotConnections({
    ...deps,
    connected,
    frames: robotFrames,
    channelOffers,
    sessionRegistry,
    wheelTickMs: WHEEL_TICK_MS,
    requestLookup,
    unixMs,
    clockMs,
    isDraining: () => state.draining,
    isHandingOver: () => state.handingOver,
  })
  const reconciler = createReconciler({
    ...deps,
    epochOf: (robotId) => connected.of(robotId)?.epoch,
    localConnections: () => connected.all(),
    requestLookup,
  })

  const connectionAdmission = createConnectionAdmission({
    ...deps,
    clockMs,
    connectsPerMinute: settings.robotConnectsPerMinute,
    isDraining: () => state.draining,
    revocations,
    onRevokedTicket: () => {
      state.revokedTickets++
    },
  })

  // What earlier parts report to later ones.
  sessionRegistry.listen({ ended: sessionWriter.ended, changed: recording.sync })
  sync.onClosedByDatabase(robots.readmit)

  return {
    state,
    clockMs,
    stallClock,
    channels,
    sessionRegistry,
    connected,
    sync,
    sessionWriter,
    recording,
    controlRelay,
    goals,
    stops,
    leaseChanges,
    measuring,
    participants,
    permissions,
    heartbeats,
    heartbeatAnswers,
    episodes,
    logs,
    robotFrames,
    robots,
    reconciler,
    connectionAdmission,
  }
}
