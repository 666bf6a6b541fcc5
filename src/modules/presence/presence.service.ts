import { setTimeout as delay } from 'node:timers/promises'
import { isDatabaseAway, unavailable } from '../../core/errors/errors.ts'
import type { Bus } from '../../core/events/bus.ts'
import type { Log } from '../../core/log.ts'
import type { SessionPresence } from '../sessions/session-presence.ts'
import { createBatcher } from './batcher.ts'
import type { Connect, Connected, Disconnect, PresenceStore } from './presence.store.ts'

const BATCH_LIMIT = 2_000
/** One file descriptor per robot bounds a process well below this. */
const QUEUE_LIMIT = 100_000
const RETRY_DELAY_MS = 250
/** How long a robot that wants in waits for a database that is away. */
const CONNECT_PATIENCE_MS = 10_000

/** Deadlocks and lost serialization races: the statement had no effect and may simply run again. */
function isTransient(cause: unknown): boolean {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  return code === '40P01' || code === '40001' || isDatabaseAway(cause) || /timeout/i.test(String(cause))
}

/** A socket that waits to be let in. */
export interface Arrival extends Connect {
  readonly isOpen: () => boolean
}

/** Two sockets of one robot must not share a statement: they would get one epoch between them. */
function firstOfEachRobot(items: readonly Connect[]): Connect[] {
  const first = new Map<string, Connect>()
  for (const item of items) if (!first.has(item.robotId)) first.set(item.robotId, item)
  return [...first.values()]
}

/** Presence as a gateway uses it: batches of arrivals and departures, retried until the database has them. */
export function createPresence(parts: {
  store: PresenceStore
  nodeId: string
  bus: Bus
  sessions: SessionPresence
  log: Log
  heartbeatTimeoutMs: number
  /** How long a robot that a draining gateway sent away may take to come here. */
  handOverMs: number
}) {
  const { store, nodeId, bus, sessions, log, heartbeatTimeoutMs, handOverMs } = parts

  const arrivals = createBatcher<Arrival, Connected | undefined>({
    maxBatch: BATCH_LIMIT,
    maxQueued: QUEUE_LIMIT,
    async run(items) {
      // By the one who has waited longest, who may have waited for the batch before this one too.
      const givenUpAtMs = Math.min(...items.map((item) => item.atMs)) + CONNECT_PATIENCE_MS
      const answers = new Map<Connect, Connected | undefined>()
      // A socket that closed while it waited must not take the epoch from one that is alive elsewhere.
      for (let rest = items.filter((item) => item.isOpen()); rest.length > 0; ) {
        const round = firstOfEachRobot(rest)
        const connected = await persist('connect', () => store.connect(nodeId, round), givenUpAtMs)
        const byRobot = new Map(connected.map((one) => [one.robotId, one]))
        for (const item of round) answers.set(item, byRobot.get(item.robotId))
        rest = rest.filter((item) => !answers.has(item))
      }
      tellMoves([...answers.values()])
      return items.map((item) => answers.get(item))
    },
  })

  const departures = createBatcher<Disconnect, void>({
    maxBatch: BATCH_LIMIT,
    maxQueued: QUEUE_LIMIT,
    async run(items) {
      const { lostInSession } = await persist('disconnect', () => store.disconnect(items))
      bus.publish('outbox.wake', {})
      for (const lost of lostInSession) tellSession(sessions.robotLost(lost.robotId, lost.lastSign))
      return items.map(() => undefined)
    },
  })

  function tellMoves(connected: readonly (Connected | undefined)[]): void {
    bus.publish('outbox.wake', {})
    const robotIds = connected.flatMap((one) => (one?.moved ? [one.robotId] : []))
    if (robotIds.length > 0) bus.publish('robots.changed', { robotIds })
  }

  /** The sweep finds what could not be told here, so a failure is logged and no more. */
  function tellSession(telling: Promise<void>): void {
    telling.catch((cause) => log.warn({ err: cause }, 'session not told of its robot yet'))
  }

  async function persist<T>(what: string, work: () => Promise<T>, givenUpAtMs = Number.POSITIVE_INFINITY) {
    for (let attempt = 1; ; attempt++) {
      try {
        return await work()
      } catch (cause) {
        if (!isTransient(cause)) throw cause
        if (Date.now() >= givenUpAtMs)
          throw unavailable('The database is unreachable. Try again shortly.', cause)
        if (attempt === 1) log.warn({ err: cause }, `presence: ${what} waits for the database`)
        await delay(RETRY_DELAY_MS)
      }
    }
  }

  return {
    /**
     * Opens the robot's next epoch. Undefined: the token is not the current one, or the robot is gone.
     * @throws 503 when the database stays away.
     */
    async connect(item: Arrival): Promise<Connected | undefined> {
      const connected = await arrivals.add(item)
      if (connected?.status === 'IN_SESSION') {
        const { lastSign, handedOver } = connected
        const limitMs = handedOver ? handOverMs : heartbeatTimeoutMs
        const lost = lastSign !== null && item.atMs - lastSign.getTime() > limitMs
        // Its gateway is gone, and nobody has noticed yet that the robot was away.
        const telling = lost ? sessions.robotLost(item.robotId, lastSign) : sessions.robotBack(item.robotId)
        tellSession(telling)
      }
      return connected
    },
    /** Ends an epoch. Retried until the database has it; only a closing process stops trying. */
    disconnect: (item: Disconnect): Promise<void> => departures.add(item),
    /** Settles once everything queued is written. */
    idle: async () => {
      await arrivals.idle()
      await departures.idle() // after the arrivals: one that closed meanwhile departs as soon as it is let in
    },
  }
}
export type Presence = ReturnType<typeof createPresence>
