import { alone } from '../src/async.ts'
import type { EpisodeStore } from '../src/datasets/episode.store.ts'
import type { Bus } from '../src/events/bus.ts'
import type { Log } from '../src/log.ts'
import type { MetricsPage } from '../src/metrics/metrics.http.ts'
import type { Presence } from '../src/presence/presence.service.ts'
import type { PresenceStore } from '../src/presence/presence.store.ts'
import type { RobotTokens } from '../src/robots/robot.token.ts'
import { createEpisodes } from './episodes.ts'
import { createHeartbeats } from './heartbeats.ts'
import { createReconciler } from './reconciler.ts'
import { createRobotFrames } from './robot-frames.ts'
import type { RobotLink } from './robot-link.ts'
import { createRobotSync, repeatStop } from './robot-sync.ts'
import { createRobotConnections, type RobotSettings } from './robots.ts'
import { closeAll, listenForRobots } from './server.ts'
import { createTimerWheel, type TimerWheel } from './timer-wheel.ts'

const WHEEL_TICK_MS = 50
const STALL_MS = 200
const HOUSEKEEPING_MS = 1_000
/** A peer that has not read for so long is closed. */
const BLOCKED_LIMIT_MS = 10_000
const RECONCILE_MS = 10_000

export interface GatewayParts {
  readonly presence: Presence
  readonly store: PresenceStore
  readonly episodeStore: EpisodeStore
  readonly tokens: RobotTokens
  readonly bus: Bus
  readonly log: Log
  readonly nodeId: string
  readonly settings: RobotSettings
  readonly allowedOrigins: readonly string[]
  /** Answers GET /metrics. */
  readonly metricsPage: MetricsPage
  /** Public WebSocket origin of this node, once the port is known. */
  readonly urlFor: (port: number) => string
}

export interface Gateway {
  readonly port: number
  readonly connections: number
  readonly counts: Readonly<Record<'frames' | 'heartbeats' | 'heartbeatsWritten' | 'lastFlushMs', number>>
  /** Refuses newcomers, tells every robot to reconnect elsewhere and writes what is left. Bounded by the caller. */
  drain(): Promise<void>
  close(): Promise<void>
}

/** Starts the gateway: robots connect, their presence is kept. */
export async function startGateway(parts: GatewayParts, host: string, port: number): Promise<Gateway> {
  const { presence, store, tokens, bus, log, nodeId, settings } = parts
  const startedAtMs = Date.now() - 1 // clock readings are above 0, which stands for "never"
  const clockMs = () => Date.now() - startedAtMs

  const sync = createRobotSync({
    store,
    nodeId,
    bus,
    log,
    linkOf: (robotId) => robots.current(robotId),
    clockMs,
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
    onSilent: (link) => robots.silent(link),
  })
  const episodes = createEpisodes({
    store: parts.episodeStore,
    log,
    linkOf: (robotId) => robots.current(robotId),
    clockMs,
  })
  const frames = createRobotFrames({
    noteBeat: heartbeats.note,
    takeEpisode: episodes.take,
    log,
    startedAtMs,
  })
  const robots = createRobotConnections({ presence, frames, wheel, settings, log, startedAtMs, clockMs })

  let draining = false
  let databaseOk = false
  const server = await listenForRobots(
    {
      robots,
      tokens,
      clockMs,
      allowedOrigins: parts.allowedOrigins,
      metricsPage: parts.metricsPage,
      isReady: () => databaseOk && !draining,
      isDraining: () => draining,
    },
    host,
    port,
  )
  const url = parts.urlFor(server.port)

  const lookAfterLinks = () => {
    const nowMs = clockMs()
    robots.turnAway()
    for (const link of robots.all()) {
      repeatStop(link, nowMs)
      if (link.blockedSinceMs !== 0 && nowMs - link.blockedSinceMs > BLOCKED_LIMIT_MS) link.close('tooSlow')
    }
  }
  let closed = false
  const housekeep = alone(async () => {
    if (closed) return
    try {
      await store.renewNode(nodeId, url)
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
  const stopListening = sync.listen()
  const timers = [
    setInterval(turnWheel(wheel, clockMs), WHEEL_TICK_MS),
    setInterval(() => heartbeats.tick(), heartbeats.sliceMs),
    setInterval(lookAfterLinks, HOUSEKEEPING_MS), // by itself: housekeeping waits for the database
    setInterval(housekeep, HOUSEKEEPING_MS),
    setInterval(reconcile, RECONCILE_MS),
  ]

  return {
    port: server.port,
    get connections() {
      return robots.size
    },
    get counts() {
      const { written: heartbeatsWritten, lastFlushMs } = heartbeats.counts
      return { ...frames.counts, heartbeatsWritten, lastFlushMs }
    },
    async drain() {
      draining = true
      server.stopListening()
      // First what the robots have sent, while the connections that own it still stand.
      await Promise.all([
        heartbeats.flush().catch((cause) => log.error({ err: cause }, 'heartbeats not written at shutdown')),
        episodes
          .flush()
          .catch((cause) => log.warn({ err: cause }, 'episodes left to their robots at shutdown')),
      ])
      await closeAll(robots, 'draining')
      await presence.idle()
    },
    async close() {
      for (const timer of timers) clearInterval(timer)
      closed = true
      episodes.stop()
      await housekeep() // joins a run in hand, which would bring the row of this node back
      stopListening()
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
