import { coalesce } from '../../src/core/concurrency/concurrency.ts'
import type { Guard } from '../../src/core/process/guard.ts'
import type { Bus } from '../../src/core/events/bus.ts'
import type { Log } from '../../src/core/log.ts'
import type { LinkState, PresenceStore } from '../../src/modules/presence/index.ts'
import type { ControlSessionRegistry } from '../control/control-session-registry.ts'
import type { RobotConnection } from './robot-connection.ts'

const ROBOTS_PER_QUERY = 2_000
/** Looking again over the last few seconds finds what a lost hint, or a slow commit, has hidden. */
const OVERLAP_MS = 5_000

/**
 * Keeps connections in step with what the database says of their robots: sessions, tokens, newer
 * connections elsewhere. Hints make it quick; polling makes it sure.
 */
export function createRobotSync(deps: {
  store: PresenceStore
  nodeId: string
  bus: Bus
  guard: Guard
  log: Log
  connectionOf: (robotId: string) => RobotConnection | undefined
  sessionRegistry: ControlSessionRegistry
  clockMs: () => number
}) {
  const { store, nodeId, bus, guard, log, connectionOf, sessionRegistry, clockMs } = deps
  let pendingLookups = new Set<string>()
  let running: Promise<void> | undefined
  let lastPollMs = clockMs()
  let failed = false

  /** Looks these robots up soon, many in one query. Bounded by the robots that are connected here, or waited for. */
  function requestLookup(robotIds: Iterable<string>): void {
    for (const robotId of robotIds)
      if (connectionOf(robotId) ?? sessionRegistry.orphanOf(robotId)) pendingLookups.add(robotId)
    if (pendingLookups.size > 0) running ??= drain()
  }

  async function drain(): Promise<void> {
    try {
      while (pendingLookups.size > 0) {
        const batch = [...pendingLookups].slice(0, ROBOTS_PER_QUERY)
        for (const robotId of batch) pendingLookups.delete(robotId)
        const queried = new Map(batch.map((robotId) => [robotId, connectionOf(robotId)]))
        for (const state of await store.linkStates(batch)) {
          // A connection that came meanwhile: what was found may be older than it.
          if (connectionOf(state.robotId) === queried.get(state.robotId)) apply(state)
          else pendingLookups.add(state.robotId)
        }
      }
    } catch (cause) {
      pendingLookups = new Set() // the next poll covers the time since the last one that worked
      failed = true
      log.warn({ err: cause }, 'robots not looked up; polling will find them')
    } finally {
      running = undefined
    }
  }

  function apply(state: LinkState): void {
    const connection = connectionOf(state.robotId)
    const orphan = connection ? undefined : sessionRegistry.orphanOf(state.robotId)
    if (orphan) return sessionRegistry.applyOrphanLookup(orphan, state)
    if (!connection || connection.epoch === 0) return
    if (state.epoch > connection.epoch) return connection.close('replaced')
    if (state.epoch < connection.epoch) return connection.close('draining') // the database forgot this connection: come anew
    if (state.tokenVersion !== connection.tokenVersion) return connection.close('credentialRevoked')
    if (!state.connected) return connection.close('draining')
    sessionRegistry.applyLookup(connection, state.session)
  }

  return {
    want: requestLookup,
    /** The hints of other processes; returns how to stop listening. */
    listen: () => guard.subscribe(bus, 'robots.changed', ({ robotIds }) => requestLookup(robotIds)),

    /** Finds changes whose hint did not arrive. Throws when the database is away. */
    poll: coalesce(async () => {
      const startedMs = clockMs()
      failed = false
      requestLookup(await store.changedWithin(nodeId, startedMs - lastPollMs + OVERLAP_MS))
      requestLookup(sessionRegistry.orphanedRobots())
      await running
      if (!failed) lastPollMs = startedMs
    }),
  }
}
export type RobotSync = ReturnType<typeof createRobotSync>
