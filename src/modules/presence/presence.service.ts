import { setTimeout as delay } from 'node:timers/promises'
import { isDatabaseUnreachable, unavailable } from '../../core/errors/errors.ts'
import type { Bus } from '../../core/events/bus.ts'
import type { Log } from '../../core/log.ts'
import type { SessionPresence } from '../sessions/index.ts'
import type { ConnectRequest, ConnectResult, DisconnectRequest, PresenceStore } from './presence.store.ts'
import { createSerialBatchLoader } from './serial-batch-loader.ts'

/** Robots that connect or disconnect with one statement. */
const BATCH_LIMIT = 2_000
/** The file descriptor limit of a process bounds its connections well below this. */
const QUEUE_LIMIT = 100_000
const RETRY_DELAY_MS = 250
/** How long a connecting robot waits for an unreachable database. */
const CONNECT_TIMEOUT_MS = 10_000

/** Returns whether a statement failed without effect (deadlock, serialization failure, timeout) and may be retried. */
function isTransient(cause: unknown): boolean {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  return (
    code === '40P01' || code === '40001' || isDatabaseUnreachable(cause) || /timeout/i.test(String(cause))
  )
}

/** A socket that awaits its admission. */
export interface PendingConnect extends ConnectRequest {
  readonly isOpen: () => boolean
}

/** Returns the request of a socket as plain data. */
const requestOf = ({ robotId, tokenVersion, atMs, closedEpoch }: ConnectRequest): ConnectRequest => ({
  robotId,
  tokenVersion,
  atMs,
  ...(closedEpoch !== undefined && { closedEpoch }),
})

/** Returns the first request of each robot. Two sockets of one robot in one statement would share an epoch. */
function firstOfEachRobot(items: readonly ConnectRequest[]): ConnectRequest[] {
  const first = new Map<string, ConnectRequest>()
  for (const item of items) if (!first.has(item.robotId)) first.set(item.robotId, item)
  return [...first.values()]
}

/** Persists connects and disconnects of a gateway's robots in batches, and retries them while the database is unreachable. */
export function createPresence(deps: {
  store: Pick<PresenceStore, 'connect' | 'disconnect'>
  nodeId: string
  bus: Bus
  sessions: Pick<SessionPresence, 'handleRobotLost' | 'handleRobotReturned'>
  log: Log
  heartbeatTimeoutMs: number
  /** How long a robot may take to reconnect after a draining gateway closed its connection. */
  handoverMs: number
}) {
  const { store, nodeId, bus, sessions, log, heartbeatTimeoutMs, handoverMs } = deps

  const connects = createSerialBatchLoader<PendingConnect, ConnectResult | undefined>({
    maxBatch: BATCH_LIMIT,
    maxQueued: QUEUE_LIMIT,
    async run(items) {
      // The oldest request sets the deadline: it may have waited for the previous batch, too.
      const deadlineMs = Math.min(...items.map((item) => item.atMs)) + CONNECT_TIMEOUT_MS
      const results = new Map<ConnectRequest, ConnectResult | undefined>()
      // A socket that closed in the queue must not take the epoch from a live connection elsewhere.
      for (let remaining = items.filter((item) => item.isOpen()); remaining.length > 0; ) {
        const round = firstOfEachRobot(remaining)
        const connected = await persist(
          'connect',
          () => store.connect(nodeId, round.map(requestOf)),
          deadlineMs,
        )
        const byRobot = new Map(connected.map((connection) => [connection.robotId, connection]))
        for (const item of round) results.set(item, byRobot.get(item.robotId))
        remaining = remaining.filter((item) => !results.has(item))
      }
      publishTakeovers([...results.values()])
      return items.map((item) => results.get(item))
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

  /** Logs a failed session update. The sweep repeats the update later. */
  function logSessionFailure(sessionUpdate: Promise<void>): void {
    sessionUpdate.catch((cause) =>
      log.warn({ err: cause }, 'session update after a robot connection change failed; the sweep retries it'),
    )
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
          throw unavailable('database_unavailable', 'The database is unreachable. Try again shortly.', cause)
        if (attempt === 1) log.warn({ err: cause }, `presence ${operation} failed, retrying`)
        await delay(RETRY_DELAY_MS)
      }
    }
  }

  return {
    /**
     * Opens the robot's next epoch. Returns undefined when the token is outdated, when the robot is removed, or when the closed epoch
     * of the request is no longer the newest.
     * @throws 503 when the database stays unreachable.
     */
    async connect(item: PendingConnect): Promise<ConnectResult | undefined> {
      const connected = await connects.add(item)
      if (connected?.status === 'IN_SESSION') {
        const { lastSign, handedOver } = connected
        const limitMs = handedOver ? handoverMs : heartbeatTimeoutMs
        const lost = lastSign !== null && item.atMs - lastSign.getTime() > limitMs
        // The gateway of the previous connection died, and no sweep has recorded the loss yet.
        const sessionUpdate = lost
          ? sessions.handleRobotLost(item.robotId, lastSign)
          : sessions.handleRobotReturned(item.robotId)
        logSessionFailure(sessionUpdate)
      }
      return connected
    },
    /** Ends an epoch. Retries until the database has persisted it or the process exits. */
    disconnect: (item: DisconnectRequest): Promise<void> => disconnects.add(item),
    /** Resolves when all queued items are persisted. */
    idle: async () => {
      await connects.idle()
      await disconnects.idle() // last: a socket that closed in the queue disconnects right after its connect
    },
  }
}
export type Presence = ReturnType<typeof createPresence>
