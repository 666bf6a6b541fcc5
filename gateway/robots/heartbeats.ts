import type { Log } from '../../src/core/log.ts'
import type { GatewayClock } from '../base/gateway-clock.ts'
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
