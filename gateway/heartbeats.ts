import type { Log } from '../src/core/log.ts'
import type { PresenceStore } from '../src/modules/presence/presence.store.ts'
import type { RobotLink } from './robot-link.ts'

/** The second in which every robot's beat is written is cut into slices, so that the work comes evenly. */
const SLICES = 10
const SLICE_MS = 100
const ROBOTS_PER_STATEMENT = 4_000

/**
 * Heartbeats on their way to the database: only the newest of each robot, at most once a second each. While
 * the database is away they wait; there is never more than one per robot.
 */
export function createHeartbeats(parts: {
  store: PresenceStore
  log: Log
  startedAtMs: number
  /** Some of these connections do not stand any more, as far as the database knows. */
  onMismatch: (links: readonly RobotLink[]) => void
}) {
  const { store, log, startedAtMs, onMismatch } = parts
  const slices: RobotLink[][] = Array.from({ length: SLICES }, () => [])
  let nextRobot = 0
  let slice = 0
  let flushing: Promise<void> | undefined
  let failing = false
  const counts = { written: 0, lastFlushMs: 0 }

  async function write(links: readonly RobotLink[]): Promise<void> {
    for (let start = 0; start < links.length; start += ROBOTS_PER_STATEMENT) {
      const batch = links.slice(start, start + ROBOTS_PER_STATEMENT)
      const beats = batch.map((link) => ({
        robotId: link.robotId,
        epoch: link.epoch,
        lastHeartbeatMs: startedAtMs + link.lastBeatMs,
        battery: link.battery < 0 ? null : link.battery,
        batteryMs: link.battery < 0 ? null : startedAtMs + link.batteryMs,
      }))
      // Cleared before the statement: a beat that comes while it runs is noted for the next one.
      for (const link of batch) link.beatUnsaved = false
      try {
        const startedAt = performance.now()
        const saved = await store.saveHeartbeats(beats)
        counts.lastFlushMs = performance.now() - startedAt
        counts.written += saved
        if (saved < batch.length) onMismatch(batch)
        failing = false
      } catch (cause) {
        for (const link of links.slice(start)) {
          link.beatUnsaved = false // also of those whose turn had not come: all of them left their slice
          if (link.open) note(link)
        }
        throw cause
      }
    }
  }

  function note(link: RobotLink): void {
    if (link.beatUnsaved) return
    link.beatUnsaved = true
    // A robot keeps its slice, so that however often it beats it is written once a second.
    if (link.slice < 0) link.slice = nextRobot++ % SLICES
    slices[link.slice]?.push(link)
  }

  async function flushSlice(index: number): Promise<void> {
    const links = (slices[index] as RobotLink[]).filter((link) => link.open)
    slices[index] = []
    if (links.length > 0) await write(links)
  }

  return {
    /** Heartbeats written since the start of this process, and how long the last statement took. */
    counts: counts as Readonly<typeof counts>,

    /** Notes that a robot has a new heartbeat. */
    note,

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
