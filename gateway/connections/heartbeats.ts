import type { Log } from '../../src/core/log.ts'
import type { PresenceStore } from '../../src/modules/presence/index.ts'
import type { RobotConnection } from './robot-connection.ts'

/** The second in which every robot's beat is written is cut into slices, so that the work comes evenly. */
const SLICES = 10
const SLICE_MS = 100
const ROBOTS_PER_STATEMENT = 4_000

/**
 * Heartbeats on their way to the database: only the newest of each robot, at most once a second each. While
 * the database is away they wait; there is never more than one per robot.
 */
export function createHeartbeats(deps: {
  store: PresenceStore
  log: Log
  startedAtMs: number
  /** Some of these connections do not stand any more, as far as the database knows. */
  onMismatch: (connections: readonly RobotConnection[]) => void
}) {
  const { store, log, startedAtMs, onMismatch } = deps
  const slices: RobotConnection[][] = Array.from({ length: SLICES }, () => [])
  let nextRobot = 0
  let slice = 0
  let flushing: Promise<void> | undefined
  let failing = false
  const counts = { written: 0, lastFlushMs: 0 }

  async function write(connections: readonly RobotConnection[]): Promise<void> {
    for (let start = 0; start < connections.length; start += ROBOTS_PER_STATEMENT) {
      const batch = connections.slice(start, start + ROBOTS_PER_STATEMENT)
      const beats = batch.map((connection) => ({
        robotId: connection.robotId,
        epoch: connection.epoch,
        lastHeartbeatMs: startedAtMs + connection.lastHeartbeatMs,
        battery: connection.battery < 0 ? null : connection.battery,
        batteryMs: connection.battery < 0 ? null : startedAtMs + connection.batteryMs,
      }))
      // Cleared before the statement: a beat that comes while it runs is noted for the next one.
      for (const connection of batch) connection.heartbeatUnsaved = false
      try {
        const startedAt = performance.now()
        const saved = await store.saveHeartbeats(beats)
        counts.lastFlushMs = performance.now() - startedAt
        counts.written += saved
        if (saved < batch.length) onMismatch(batch)
        failing = false
      } catch (cause) {
        for (const connection of connections.slice(start)) {
          connection.heartbeatUnsaved = false // also of those whose turn had not come: all of them left their slice
          if (connection.open) enqueue(connection)
        }
        throw cause
      }
    }
  }

  function enqueue(connection: RobotConnection): void {
    if (connection.heartbeatUnsaved) return
    connection.heartbeatUnsaved = true
    // A robot keeps its slice, so that however often it beats it is written once a second.
    if (connection.slice < 0) connection.slice = nextRobot++ % SLICES
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

    /** Notes that a robot has a new heartbeat. */
    note: enqueue,

    /** Writes the slice whose turn it is, unless the one before is still being written. Never throws. */
    tick(): void {
      if (flushing) return
      slice = (slice + 1) % SLICES
      flushing = flushSlice(slice)
        .catch((cause) => {
          if (!failing) log.warn({ err: cause }, 'heartbeats wait for the database')
          failing = true
        })
        .finally(() => {
          flushing = undefined
        })
    },

    /** Writes everything that waits. Throws when the database is away. */
    async flush(): Promise<void> {
      await flushing
      for (let index = 0; index < SLICES; index++) await flushSlice(index)
    },

    sliceMs: SLICE_MS,
  }
}
export type Heartbeats = ReturnType<typeof createHeartbeats>
