import { singleFlight } from '../src/core/concurrency/concurrency.ts'
import type { Guard } from '../src/core/process/guard.ts'
import type { Bus } from '../src/core/events/bus.ts'
import type { Log } from '../src/core/log.ts'
import type { MetricsPage } from '../src/core/metrics/metrics-http.ts'
import type { EpisodeStore } from '../src/modules/datasets/index.ts'
import type { RevocationSources } from '../src/modules/identity/index.ts'
import type { Presence, PresenceStore } from '../src/modules/presence/index.ts'
import type { RobotLogStore, RobotTokens } from '../src/modules/robots/index.ts'
import type { ControlPersistence, TicketStore, Tickets } from '../src/modules/sessions/index.ts'
import { createConnectLimit } from './connections/connect-limit.ts'
import { createConnectionAdmission } from './connections/connection-admission.ts'
import { drainConnections } from './connections/drain.ts'
import { createHeartbeats } from './connections/heartbeats.ts'
import { createReconciler } from './connections/reconciler.ts'
import type { RobotConnection } from './connections/robot-connection.ts'
import { createRobotConnections, type RobotSettings } from './connections/robot-connections.ts'
import { createRobotFrames } from './connections/robot-frames.ts'
import { createRobotSync } from './connections/robot-sync.ts'
import { createTimerWheel, type TimerWheel } from './connections/timer-wheel.ts'
import { createControlSessionService, MEASURE_SLOTS } from './control/control-session-service.ts'
import { createBatteryFeed } from './persistence/battery-feed.ts'
import { createEpisodes } from './persistence/episodes.ts'
import { createRobotLogs } from './persistence/robot-logs.ts'
import { listenForConnections } from './server.ts'

const WHEEL_TICK_MS = 50
const STALL_MS = 200
const HOUSEKEEPING_MS = 1_000
const MAINTENANCE_MS = 250
const MEASURE_MS = 1_000
/** Who only looks on gives no other sign of life than pongs; a late one is no loss. */
const PINGS_PER_TIMEOUT = 3
/** A peer that has not read for so long is closed. */
const BLOCKED_LIMIT_MS = 10_000
const RECONCILE_MS = 10_000
/** Well within the second that a credential or a right may outlive its end, also without hints. */
const CHECK_PERMISSIONS_MS = 500

export interface GatewayDeps {
  readonly presence: Presence
  readonly store: PresenceStore
  readonly episodeStore: EpisodeStore
  readonly logStore: RobotLogStore
  readonly driving: ControlPersistence
  readonly ticketStore: Pick<TicketStore, 'verdictOf'>
  readonly accounts: Pick<RevocationSources, 'apiKeys' | 'users'>
  readonly tokens: RobotTokens
  readonly tickets: Tickets
  readonly bus: Bus
  readonly log: Log
  readonly guard: Guard
  readonly nodeId: string
  readonly settings: RobotSettings & {
    readonly operatorGraceMs: number
    readonly robotConnectsPerMinute: number
  }
  readonly allowedOrigins: readonly string[]
  /** Answers GET /metrics. */
  readonly metricsPage: MetricsPage
  /** Public WebSocket origin of this node, once the port is known. */
  readonly urlFor: (port: number) => string
}

type ControlCounter = 'passed' | 'dropped' | 'deadman' | 'stops' | 'ticketsRefused'
type GatewayCounter =
  | 'frames'
  | 'logLines'
  | 'logLinesDropped'
  | 'heartbeats'
  | 'heartbeatsWritten'
  | 'lastFlushMs'
  | ControlCounter

export interface Gateway {
  readonly port: number
  /** Robots. */
  readonly connections: number
  /** Operators and watchers. */
  readonly participants: number
  /** Open sessions whose robots are here. */
  readonly sessions: number
  readonly counts: Readonly<Record<GatewayCounter, number>>
  /** Refuses newcomers, tells everybody to reconnect elsewhere and writes what is left. Bounded by the caller. */
  drain(): Promise<void>
  close(): Promise<void>
}

/** Starts the gateway: robots connect, their presence is kept, operators drive them and watchers look on. */
export async function startGateway(deps: GatewayDeps, host: string, port: number): Promise<Gateway> {
  const { presence, store, tokens, tickets, bus, log, guard, nodeId, settings } = deps
  const startedAtMs = Date.now() - 1 // clock readings are above 0, which stands for "never"
  const clockMs = () => Date.now() - startedAtMs

  const battery = createBatteryFeed({ startedAtMs })
  const controlService = createControlSessionService({
    driving: deps.driving,
    ticketStore: deps.ticketStore,
    accounts: deps.accounts,
    bus,
    log,
    guard,
    nodeId,
    settings,
    battery,
    clockMs,
    requestLookup: (robotIds) => sync.want(robotIds),
    pollChanges: () => sync.poll(),
  })
  const { drives: sessionRegistry, relay: controlRelay, people: participants } = controlService
  const sync = createRobotSync({
    store,
    nodeId,
    bus,
    guard,
    log,
    sessionRegistry,
    clockMs,
    connectionOf: (robotId) => robots.current(robotId),
  })
  const heartbeats = createHeartbeats({
    store,
    log,
    startedAtMs,
    onMismatch: (connections) => sync.want(connections.map((connection) => connection.robotId)),
  })
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
  })
  const logs = createRobotLogs({
    store: deps.logStore,
    log,
    startedAtMs,
    clockMs,
    connectionOf: (robotId) => robots.current(robotId),
  })
  const frames = createRobotFrames({
    enqueueHeartbeat: heartbeats.note,
    takeEpisode: episodes.take,
    takeLogLine: logs.take,
    controlRelay,
    battery,
    startedAtMs,
  })
  const robots = createRobotConnections({
    presence,
    frames,
    sessionRegistry,
    wheel,
    settings,
    log,
    startedAtMs,
    clockMs,
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
  const server = await listenForConnections(
    {
      connectionAdmission,
      robots: { ...robots, drained: controlRelay.robotDrained, pong: controlService.robotAnswered },
      participants: {
        ...participants,
        drained: controlService.participantDrained,
        pong: controlService.participantAnswered,
      },
      guard,
      metricsPage: deps.metricsPage,
      isReady: () => databaseOk && !draining,
    },
    host,
    port,
  )
  const url = deps.urlFor(server.port)
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
  let closed = false
  const housekeep = singleFlight(async () => {
    if (closed) return
    try {
      if (!draining) await store.renewNode(nodeId, url)
      await sync.poll()
      databaseOk = true
    } catch (cause) {
      if (databaseOk) log.warn({ err: cause }, 'gateway runs on without the database')
      databaseOk = false
    }
  })
  const reconciler = createReconciler({
    store,
    nodeId,
    presence,
    epochOf: (id) => robots.current(id)?.epoch,
    localConnections: () => robots.all(),
    requestLookup: sync.want,
  })
  const reconcile = singleFlight(() =>
    reconciler.run().catch((cause) => log.warn({ err: cause }, 'presence not reconciled')),
  )
  await housekeep()
  const stopListening = [sync.listen(), controlService.listen()]
  const measureMs = Math.min(MEASURE_MS, settings.heartbeatTimeoutMs / PINGS_PER_TIMEOUT)
  const timers = [
    guard.every('timer:wheel', WHEEL_TICK_MS, createWheelTicker(wheel, clockMs)),
    guard.every('timer:heartbeats', heartbeats.sliceMs, heartbeats.tick),
    guard.every('timer:logs', logs.tickMs, logs.tick),
    // Each by itself: what fails in one must not keep the others from their work, nor must a slow database.
    guard.every('timer:repeat-stops', MAINTENANCE_MS, controlService.repeatStops),
    guard.every('timer:admissions', MAINTENANCE_MS, controlService.retryAdmissions),
    guard.every('timer:silence', MAINTENANCE_MS, controlService.cutSilent),
    guard.every('timer:writer', MAINTENANCE_MS, controlService.write),
    guard.every('timer:waiting', MAINTENANCE_MS, robots.expirePendingAdmissions),
    guard.every('timer:blocked', MAINTENANCE_MS, closeBlocked),
    guard.every('timer:latency', measureMs / MEASURE_SLOTS, controlService.measure),
    guard.every('timer:housekeeping', HOUSEKEEPING_MS, housekeep),
    guard.every('timer:permissions', CHECK_PERMISSIONS_MS, controlService.checkPermissions),
    // What is handed over is not held here any more.
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
    get counts() {
      const { written: heartbeatsWritten, lastFlushMs } = heartbeats.counts
      const ticketsRefused = revokedTickets + participants.refused
      const { counts } = controlService
      return { ...frames.counts, ...counts, ...logs.counts, ticketsRefused, heartbeatsWritten, lastFlushMs }
    },
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
      await housekeep() // joins a run in hand, which would bring the row of this node back
      for (const stop of stopListening) stop()
      controlService.haltAll('gateway_draining') // if the drain took too long
      server.close()
      await store.forgetNode(nodeId).catch(() => {}) // the sweep finds the row otherwise
    },
  }
}

/**
 * After a stall of this process the frames that came meanwhile are still unread, and every robot would look
 * silent. Such a turn is left out; the frames are read before the next one.
 */
function createWheelTicker(wheel: TimerWheel<RobotConnection>, clockMs: () => number): () => void {
  let lastTickMs = clockMs()
  let tickSkipped = false
  return () => {
    const nowMs = clockMs()
    // Only one turn: a process that is always late must still find the silent ones.
    tickSkipped = nowMs - lastTickMs > STALL_MS && !tickSkipped
    lastTickMs = nowMs
    if (!tickSkipped) wheel.advance(nowMs)
  }
}
