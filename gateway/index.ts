import { alone } from '../src/core/concurrency/async.ts'
import type { Guard } from '../src/core/errors/guard.ts'
import type { Bus } from '../src/core/events/bus.ts'
import type { Log } from '../src/core/log.ts'
import type { MetricsPage } from '../src/core/metrics/metrics-http.ts'
import type { EpisodeStore } from '../src/modules/datasets/episode.store.ts'
import type { RevocationSources } from '../src/modules/identity/revocation-watch.ts'
import type { Presence } from '../src/modules/presence/presence.service.ts'
import type { PresenceStore } from '../src/modules/presence/presence.store.ts'
import type { RobotLogStore } from '../src/modules/robots/robot-log.store.ts'
import type { RobotTokens } from '../src/modules/robots/robot-token.ts'
import type { Driving } from '../src/modules/sessions/control/driving.service.ts'
import type { TicketStore } from '../src/modules/sessions/control/ticket.store.ts'
import type { Tickets } from '../src/modules/sessions/control/ticket.ts'
import { createAdmission } from './admission.ts'
import { createBatteryFeed } from './battery-feed.ts'
import { createConnectLimit } from './connect-limit.ts'
import { drainLinks } from './drain.ts'
import { createDriveRoom, MEASURE_TURNS } from './drive-room.ts'
import { createEpisodes } from './episodes.ts'
import { createHeartbeats } from './heartbeats.ts'
import { createReconciler } from './reconciler.ts'
import { createRobotFrames } from './robot-frames.ts'
import type { RobotLink } from './robot-link.ts'
import { createRobotLogs } from './robot-logs.ts'
import { createRobotSync } from './robot-sync.ts'
import { createRobotConnections, type RobotSettings } from './robots.ts'
import { listenForLinks } from './server.ts'
import { createTimerWheel, type TimerWheel } from './timer-wheel.ts'

const WHEEL_TICK_MS = 50
const STALL_MS = 200
const HOUSEKEEPING_MS = 1_000
const LOOK_AFTER_MS = 250
const MEASURE_MS = 1_000
/** Who only looks on gives no other sign of life than pongs; a late one is no loss. */
const PINGS_PER_TIMEOUT = 3
/** A peer that has not read for so long is closed. */
const BLOCKED_LIMIT_MS = 10_000
const RECONCILE_MS = 10_000
/** Well within the second that a credential or a right may outlive its end, also without hints. */
const CHECK_RIGHTS_MS = 500

export interface GatewayParts {
  readonly presence: Presence
  readonly store: PresenceStore
  readonly episodeStore: EpisodeStore
  readonly logStore: RobotLogStore
  readonly driving: Driving
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

type DriveCount = 'passed' | 'dropped' | 'deadman' | 'stops' | 'ticketsRefused'
type Count =
  | 'frames'
  | 'logLines'
  | 'logLinesDropped'
  | 'heartbeats'
  | 'heartbeatsWritten'
  | 'lastFlushMs'
  | DriveCount

export interface Gateway {
  readonly port: number
  /** Robots. */
  readonly connections: number
  /** Operators and watchers. */
  readonly people: number
  /** Open sessions whose robots are here. */
  readonly sessions: number
  readonly counts: Readonly<Record<Count, number>>
  /** Refuses newcomers, tells everybody to reconnect elsewhere and writes what is left. Bounded by the caller. */
  drain(): Promise<void>
  close(): Promise<void>
}

/** Starts the gateway: robots connect, their presence is kept, operators drive them and watchers look on. */
export async function startGateway(parts: GatewayParts, host: string, port: number): Promise<Gateway> {
  const { presence, store, tokens, tickets, bus, log, guard, nodeId, settings } = parts
  const startedAtMs = Date.now() - 1 // clock readings are above 0, which stands for "never"
  const clockMs = () => Date.now() - startedAtMs

  const battery = createBatteryFeed({ startedAtMs })
  const room = createDriveRoom({
    ...{ driving: parts.driving, ticketStore: parts.ticketStore, accounts: parts.accounts },
    ...{ bus, log, guard, nodeId, settings, battery, clockMs },
    lookUp: (robotIds) => sync.want(robotIds),
    lookAround: () => sync.poll(),
  })
  const { drives, relay, people } = room
  const sync = createRobotSync({
    ...{ store, nodeId, bus, guard, log, drives, clockMs },
    linkOf: (robotId) => robots.current(robotId),
  })
  const heartbeats = createHeartbeats({
    store,
    log,
    startedAtMs,
    onMismatch: (links) => sync.want(links.map((link) => link.robotId)),
  })
  const wheel = createTimerWheel<RobotLink>({
    timeoutMs: settings.heartbeatTimeoutMs,
    tickMs: WHEEL_TICK_MS,
    onSilent: guard.handler(
      'robot:silent',
      (link: RobotLink) => robots.silent(link),
      (link) => link.cut(),
    ),
  })
  const episodes = createEpisodes({
    store: parts.episodeStore,
    log,
    linkOf: (robotId) => robots.current(robotId),
    clockMs,
  })
  const logs = createRobotLogs({
    ...{ store: parts.logStore, log, startedAtMs, clockMs },
    linkOf: (robotId) => robots.current(robotId),
  })
  const frames = createRobotFrames({
    noteBeat: heartbeats.note,
    takeEpisode: episodes.take,
    takeLogLine: logs.take,
    relay,
    battery,
    startedAtMs,
  })
  const robots = createRobotConnections({
    ...{ presence, frames, drives, wheel, settings, log, startedAtMs, clockMs },
    isHandingOver: () => handingOver,
  })

  let draining = false
  let handingOver = false
  let databaseOk = false
  let endedTickets = 0
  const admission = createAdmission({
    ...{ tokens, tickets, allowedOrigins: parts.allowedOrigins, clockMs },
    connectLimit: createConnectLimit({ perMinute: settings.robotConnectsPerMinute, clockMs }),
    isDraining: () => draining,
    revocations: room.revocations,
    onEnded: () => {
      endedTickets++
    },
  })
  const server = await listenForLinks(
    {
      admission,
      robots: { ...robots, drained: relay.robotDrained, pong: room.robotAnswered },
      people: { ...people, drained: room.personDrained, pong: room.personAnswered },
      ...{ guard, metricsPage: parts.metricsPage },
      isReady: () => databaseOk && !draining,
    },
    host,
    port,
  )
  const url = parts.urlFor(server.port)
  function* links() {
    yield* robots.all()
    yield* people.all()
  }

  const closeBlocked = () => {
    const nowMs = clockMs()
    for (const link of links()) {
      if (link.blockedSinceMs !== 0 && nowMs - link.blockedSinceMs > BLOCKED_LIMIT_MS) link.close('tooSlow')
    }
  }
  let closed = false
  const housekeep = alone(async () => {
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
    held: () => robots.all(),
    lookUp: sync.want,
  })
  const reconcile = alone(() =>
    reconciler.run().catch((cause) => log.warn({ err: cause }, 'presence not reconciled')),
  )
  await housekeep()
  const stopListening = [sync.listen(), room.listen()]
  const measureMs = Math.min(MEASURE_MS, settings.heartbeatTimeoutMs / PINGS_PER_TIMEOUT)
  const timers = [
    guard.every('timer:wheel', WHEEL_TICK_MS, turnWheel(wheel, clockMs)),
    guard.every('timer:heartbeats', heartbeats.sliceMs, heartbeats.tick),
    guard.every('timer:logs', logs.tickMs, logs.tick),
    // Each by itself: what fails in one must not keep the others from their work, nor must a slow database.
    guard.every('timer:repeat-stops', LOOK_AFTER_MS, room.repeatStops),
    guard.every('timer:admissions', LOOK_AFTER_MS, room.retryAdmissions),
    guard.every('timer:silence', LOOK_AFTER_MS, room.cutSilent),
    guard.every('timer:writer', LOOK_AFTER_MS, room.write),
    guard.every('timer:waiting', LOOK_AFTER_MS, robots.turnAway),
    guard.every('timer:blocked', LOOK_AFTER_MS, closeBlocked),
    guard.every('timer:latency', measureMs / MEASURE_TURNS, room.measure),
    guard.every('timer:housekeeping', HOUSEKEEPING_MS, housekeep),
    guard.every('timer:permissions', CHECK_RIGHTS_MS, room.checkRights),
    // What is handed over is not held here any more.
    guard.every('timer:reconcile', RECONCILE_MS, () => draining || reconcile()),
  ]

  return {
    port: server.port,
    get connections() {
      return robots.size
    },
    get people() {
      return people.size
    },
    get sessions() {
      return drives.size
    },
    get counts() {
      const { written: heartbeatsWritten, lastFlushMs } = heartbeats.counts
      const ticketsRefused = endedTickets + people.refused
      const { counts } = room
      return { ...frames.counts, ...counts, ...logs.counts, ticketsRefused, heartbeatsWritten, lastFlushMs }
    },
    async drain() {
      draining = true
      server.stopListening()
      await drainLinks({
        ...{ links, heartbeats, episodes, logs, room, presence, store, nodeId, log, clockMs },
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
      room.standStill('gateway_draining') // if the drain took too long
      server.close()
      await store.forgetNode(nodeId).catch(() => {}) // the sweep finds the row otherwise
    },
  }
}

/**
 * After a stall of this process the frames that came meanwhile are still unread, and every robot would look
 * silent. Such a turn is left out; the frames are read before the next one.
 */
function turnWheel(wheel: TimerWheel<RobotLink>, clockMs: () => number): () => void {
  let turnedMs = clockMs()
  let leftOut = false
  return () => {
    const nowMs = clockMs()
    // Only one turn: a process that is always late must still find the silent ones.
    leftOut = nowMs - turnedMs > STALL_MS && !leftOut
    turnedMs = nowMs
    if (!leftOut) wheel.advance(nowMs)
  }
}
