import { setTimeout as delay } from 'node:timers/promises'
import { isDatabaseUnreachable, unavailable } from '../../core/errors/errors.ts'
import type { Bus } from '../../core/events/bus.ts'
import type { Log } from '../../core/log.ts'
import type { SessionPresence } from '../sessions/index.ts'
import type { ConnectRequest, ConnectResult, DisconnectRequest, PresenceStore } from './presence.store.ts'
import { createSerialBatchLoader } from './serial-batch-loader.ts'

const BATCH_LIMIT = 2_000
/** One file descriptor per robot bounds a process well below this. */
const QUEUE_LIMIT = 100_000
const RETRY_DELAY_MS = 250
/** How long a robot that wants in waits for a database that is away. */
const CONNECT_TIMEOUT_MS = 10_000

/** Deadlocks and lost serialization races: the statement had no effect and may simply run again. */
function isTransient(cause: unknown): boolean {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  return (
    code === '40P01' || code === '40001' || isDatabaseUnreachable(cause) || /timeout/i.test(String(cause))
  )
}

/** A socket that waits to be let in. */
export interface PendingConnect extends ConnectRequest {
  readonly isOpen: () => boolean
}

/** Two sockets of one robot must not share a statement: they would get one epoch between them. */
function firstOfEachRobot(items: readonly ConnectRequest[]): ConnectRequest[] {
  const first = new Map<string, ConnectRequest>()
  for (const item of items) if (!first.has(item.robotId)) first.set(item.robotId, item)
  return [...first.values()]
}

/** Presence as a gateway uses it: batches of arrivals and departures, retried until the database has them. */
export function createPresence(deps: {
  store: PresenceStore
  nodeId: string
  bus: Bus
  sessions: SessionPresence
  log: Log
  heartbeatTimeoutMs: number
  /** How long a robot that a draining gateway sent away may take to come here. */
  handoverMs: number
}) {
  const { store, nodeId, bus, sessions, log, heartbeatTimeoutMs, handoverMs: handOverMs } = deps

  const connects = createSerialBatchLoader<PendingConnect, ConnectResult | undefined>({
    maxBatch: BATCH_LIMIT,
    maxQueued: QUEUE_LIMIT,
    async run(items) {
      // By the one who has waited longest, who may have waited for the batch before this one too.
      const deadlineMs = Math.min(...items.map((item) => item.atMs)) + CONNECT_TIMEOUT_MS
      const answers = new Map<ConnectRequest, ConnectResult | undefined>()
      // A socket that closed while it waited must not take the epoch from one that is alive elsewhere.
      for (let remaining = items.filter((item) => item.isOpen()); remaining.length > 0; ) {
        const round = firstOfEachRobot(remaining)
        const connected = await persist('connect', () => store.connect(nodeId, round), deadlineMs)
        const byRobot = new Map(connected.map((connection) => [connection.robotId, connection]))
        for (const item of round) answers.set(item, byRobot.get(item.robotId))
        remaining = remaining.filter((item) => !answers.has(item))
      }
      publishTakeovers([...answers.values()])
      return items.map((item) => answers.get(item))
    },
  })

  const disconnects = createSerialBatchLoader<DisconnectRequest, void>({
    maxBatch: BATCH_LIMIT,
    maxQueued: QUEUE_LIMIT,
    async run(items) {
      const { lostInSession } = await persist('disconnect', () => store.disconnect(items))
      bus.publish('outbox.wake', {})
      for (const lost of lostInSession)
        logSessionFailure(sessions.handleRobotLost(lost.robotId, lost.lastSign))
      return items.map(() => undefined)
    },
  })

  function publishTakeovers(connected: readonly (ConnectResult | undefined)[]): void {
    bus.publish('outbox.wake', {})
    const robotIds = connected.flatMap((connection) => (connection?.takenOver ? [connection.robotId] : []))
    if (robotIds.length > 0) bus.publish('robots.changed', { robotIds })
  }

  /** The sweep finds what could not be told here, so a failure is logged and no more. */
  function logSessionFailure(sessionUpdate: Promise<void>): void {
    sessionUpdate.catch((cause) => log.warn({ err: cause }, 'session not told of its robot yet'))
  }

  async function persist<T>(
    operation: string,
    work: () => Promise<T>,
    deadlineMs = Number.POSITIVE_INFINITY,
  ) {
    for (let attempt = 1; ; attempt++) {
      try {
        return await work()
      } catch (cause) {
        if (!isTransient(cause)) throw cause
        if (Date.now() >= deadlineMs)
          throw unavailable('The database is unreachable. Try again shortly.', cause)
        if (attempt === 1) log.warn({ err: cause }, `presence: ${operation} waits for the database`)
        await delay(RETRY_DELAY_MS)
      }
    }
  }

  return {
    /**
     * Opens the robot's next epoch. Undefined: the token is not the current one, or the robot is gone.
     * @throws 503 when the database stays away.
     */
    async connect(item: PendingConnect): Promise<ConnectResult | undefined> {
      const connected = await connects.add(item)
      if (connected?.status === 'IN_SESSION') {
        const { lastSign, handedOver } = connected
        const limitMs = handedOver ? handOverMs : heartbeatTimeoutMs
        const lost = lastSign !== null && item.atMs - lastSign.getTime() > limitMs
        // Its gateway is gone, and nobody has noticed yet that the robot was away.
        const sessionUpdate = lost
          ? sessions.handleRobotLost(item.robotId, lastSign)
          : sessions.robotBack(item.robotId)
        logSessionFailure(sessionUpdate)
      }
      return connected
    },
    /** Ends an epoch. Retried until the database has it; only a closing process stops trying. */
    disconnect: (item: DisconnectRequest): Promise<void> => disconnects.add(item),
    /** Settles once everything queued is written. */
    idle: async () => {
      await connects.idle()
      await disconnects.idle() // after the arrivals: one that closed meanwhile departs as soon as it is let in
    },
  }
}
export type Presence = ReturnType<typeof createPresence>
