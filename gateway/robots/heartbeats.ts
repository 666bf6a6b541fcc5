import type { Log } from '../../src/core/log.ts'
import type { GatewayClock } from '../base/clock.ts'
import type { GatewayServices } from '../base/services.ts'
import type { RobotConnection } from './robot-connection.ts'

/** Each second is divided into slices, and each robot's heartbeat is written in one of them, to spread the load. */
const SLICES = 10
const SLICE_MS = 100
const ROBOTS_PER_STATEMENT = 4_000
/** So many robots in a row share a slice: few robots need one statement a second, not ten. */
const ROBOTS_PER_GROUP = 100

/**
 * Writes heartbeats to the database: the newest one of each robot, at most once a second. While the database is
 * unavailable, at most one heartbeat per robot waits.
 */
export function createHeartbeats(deps: {
  store: GatewayServices['store']
  log: Log
  unixMs: GatewayClock['unixMs']
  /** Called if the database has replaced or closed some of these connections. */
  onMismatch: (connections: readonly RobotConnection[]) => void
}) {
  const { store, log, unixMs, onMismatch } = deps
  const slices: RobotConnection[][] = Array.from({ length: SLICES }, () => [])
  let nextRobot = 0
  let slice = 0
  let flushing: Promise<void> | undefined
  let failing = false
  const counts = { written: 0, lastFlushMs: 0 }

  async function write(connections: readonly RobotConnection[]): Promise<void> {
    // Cleared first: a heartbeat that arrives from now on is queued for the next statement, once.
    for (const connection of connections) connection.heartbeatUnsaved = false
    for (let start = 0; start < connections.length; start += ROBOTS_PER_STATEMENT) {
      const batch = connections.slice(start, start + ROBOTS_PER_STATEMENT)
      const beats = batch.map((connection) => ({
        robotId: connection.robotId,
        epoch: connection.epoch,
        lastHeartbeatMs: unixMs(connection.lastHeartbeatMs),
        battery: connection.battery < 0 ? null : connection.battery,
        batteryMs: connection.battery < 0 ? null : unixMs(connection.batteryMs),
        mode: connection.autonomy?.mode ?? null,
      }))
      try {
        const startedAt = performance.now()
        const saved = await store.saveHeartbeats(beats)
        counts.lastFlushMs = performance.now() - startedAt
        counts.written += saved
        if (saved < batch.length) onMismatch(batch)
        failing = false
      } catch (cause) {
        for (const connection of connections.slice(start)) if (connection.open) enqueue(connection)
        throw cause
      }
    }
  }

  function enqueue(connection: RobotConnection): void {
    if (connection.heartbeatUnsaved) return
    connection.heartbeatUnsaved = true
    // The slice of a robot never changes, so that its heartbeat is written once a second however often it sends one.
    if (connection.slice < 0) connection.slice = Math.floor(nextRobot++ / ROBOTS_PER_GROUP) % SLICES
    slices[connection.slice]?.push(connection)
  }

  async function flushSlice(index: number): Promise<void> {
    const connections = (slices[index] as RobotConnection[]).filter((connection) => connection.open)
    slices[index] = []
    if (connections.length > 0) await write(connections)
  }

  return {
    /** Heartbeats written since the start of this process, and how long the last statement took. */
    counts: counts as Readonly<typeof counts>,

    /** Queues the newest heartbeat of a robot. */
    enqueue,

    /** Writes the next slice, unless the previous one is still being written. Never throws. */
    tick(): void {
      if (flushing) return
      slice = (slice + 1) % SLICES
      flushing = flushSlice(slice)
        .catch((cause) => {
          if (!failing) log.warn({ err: cause }, 'failed to write heartbeats; retrying')
          failing = true
        })
        .finally(() => {
          flushing = undefined
        })
    },

    /** Writes all queued heartbeats. Throws if the database is unavailable. */
    async flush(): Promise<void> {
      await flushing
      for (let index = 0; index < SLICES; index++) await flushSlice(index)
    },

    sliceMs: SLICE_MS,
  }
}
export type Heartbeats = ReturnType<typeof createHeartbeats>

/** So many heartbeats of a robot are answered one by one within a second. A correct robot sends far fewer. */
const MAX_ANSWERS_PER_SECOND = 50
/**
 * So many answers are sent between two rounds: 40,000 a second. A turn of the event loop that lasts longer sends no more of them either,
 * so that timers, stops and control do not wait for thousands of heartbeats.
 */
const MAX_ANSWERS_PER_ROUND = 2_000
const ROUND_MS = 50

/**
 * Answers heartbeats, which costs more than to read them. A robot that floods the gateway, and all robots while the gateway is
 * overloaded, receive one answer for all heartbeats since the previous one. One number per robot waits.
 */
export function createHeartbeatAnswers({ unixMs }: Pick<GatewayClock, 'unixMs'>) {
  /** The `seq` of the newest heartbeat of each robot that waits for its answer, in the order in which they began to wait. */
  const waiting = new Map<RobotConnection, number | null>()
  const counts = { heartbeatsCoalesced: 0 }
  let left = MAX_ANSWERS_PER_ROUND

  function send(connection: RobotConnection, seq: number | null, nowMs: number): void {
    left--
    const atMs = unixMs(connection.lastHeartbeatMs)
    connection.sendIfFlowing(`{"type":"heartbeat_ack","seq":${seq},"t":${atMs}}`, nowMs)
  }

  return {
    /** Heartbeats that were answered with a newer one of their robot, since the start of this process. */
    counts: counts as Readonly<typeof counts>,

    /** Answers the newest heartbeat of a robot, now or in a round. */
    answer(connection: RobotConnection, seq: number | null, nowMs: number): void {
      const isWithinLimits = connection.countHeartbeat(nowMs) <= MAX_ANSWERS_PER_SECOND && left > 0
      if (waiting.has(connection)) counts.heartbeatsCoalesced++
      if (!isWithinLimits) return void waiting.set(connection, seq)
      waiting.delete(connection)
      send(connection, seq, nowMs)
    },

    /** Answers waiting heartbeats, those that wait longest first. Call it every `roundMs`; later calls answer the rest. */
    round(nowMs: number): void {
      left = MAX_ANSWERS_PER_ROUND
      for (const [connection, seq] of waiting) {
        if (left === 0) return
        waiting.delete(connection)
        if (connection.open) send(connection, seq, nowMs)
      }
    },

    roundMs: ROUND_MS,
  }
}
