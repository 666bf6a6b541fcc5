import { oneAfterAnother } from '../src/core/concurrency/async.ts'
import type { Guard } from '../src/core/errors/guard.ts'
import type { Bus } from '../src/core/events/bus.ts'
import type { Log } from '../src/core/log.ts'
import type { LinkState, PresenceStore } from '../src/modules/presence/presence.store.ts'
import type { Drives } from './drives.ts'
import type { RobotLink } from './robot-link.ts'

const ROBOTS_PER_QUERY = 2_000
/** Looking again over the last few seconds finds what a lost hint, or a slow commit, has hidden. */
const OVERLAP_MS = 5_000

/**
 * Keeps connections in step with what the database says of their robots: sessions, tokens, newer
 * connections elsewhere. Hints make it quick; polling makes it sure.
 */
export function createRobotSync(parts: {
  store: PresenceStore
  nodeId: string
  bus: Bus
  guard: Guard
  log: Log
  linkOf: (robotId: string) => RobotLink | undefined
  drives: Drives
  clockMs: () => number
}) {
  const { store, nodeId, bus, guard, log, linkOf, drives, clockMs } = parts
  let wanted = new Set<string>()
  let running: Promise<void> | undefined
  let lastPollMs = clockMs()
  let failed = false

  /** Looks these robots up soon, many in one query. Bounded by the robots that are connected here, or waited for. */
  function want(robotIds: Iterable<string>): void {
    for (const robotId of robotIds) if (linkOf(robotId) ?? drives.orphanOf(robotId)) wanted.add(robotId)
    if (wanted.size > 0) running ??= drain()
  }

  async function drain(): Promise<void> {
    try {
      while (wanted.size > 0) {
        const batch = [...wanted].slice(0, ROBOTS_PER_QUERY)
        for (const robotId of batch) wanted.delete(robotId)
        const asked = new Map(batch.map((robotId) => [robotId, linkOf(robotId)]))
        for (const state of await store.linkStates(batch)) {
          // A connection that came meanwhile: what was found may be older than it.
          if (linkOf(state.robotId) === asked.get(state.robotId)) apply(state)
          else wanted.add(state.robotId)
        }
      }
    } catch (cause) {
      wanted = new Set() // the next poll covers the time since the last one that worked
      failed = true
      log.warn({ err: cause }, 'robots not looked up; polling will find them')
    } finally {
      running = undefined
    }
  }

  function apply(state: LinkState): void {
    const link = linkOf(state.robotId)
    const orphan = link ? undefined : drives.orphanOf(state.robotId)
    if (orphan) return drives.lookedForOrphan(orphan, state)
    if (!link || link.epoch === 0) return
    if (state.epoch > link.epoch) return link.close('replaced')
    if (state.epoch < link.epoch) return link.close('draining') // the database forgot this connection: come anew
    if (state.tokenVersion !== link.tokenVersion) return link.close('credentialRevoked')
    if (!state.connected) return link.close('draining')
    drives.looked(link, state.session)
  }

  return {
    want,
    /** The hints of other processes; returns how to stop listening. */
    listen: () => guard.subscribe(bus, 'robots.changed', ({ robotIds }) => want(robotIds)),

    /** Finds changes whose hint did not arrive. Throws when the database is away. */
    poll: oneAfterAnother(async () => {
      const startedMs = clockMs()
      failed = false
      want(await store.changedWithin(nodeId, startedMs - lastPollMs + OVERLAP_MS))
      want(drives.orphanedRobots())
      await running
      if (!failed) lastPollMs = startedMs
    }),
  }
}
export type RobotSync = ReturnType<typeof createRobotSync>
