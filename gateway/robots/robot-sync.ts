import { coalesce } from '../../src/core/concurrency/concurrency.ts'
import type { Bus } from '../../src/core/events/bus.ts'
import type { Log } from '../../src/core/log.ts'
import type { Guard } from '../../src/core/process/guard.ts'
import type { LinkState, Presence } from '../../src/modules/presence/index.ts'
import type { GatewayServices } from '../base/services.ts'
import type { ControlSessionRegistry } from '../control/control-session-registry.ts'
import type { RobotConnection } from './robot-connection.ts'

const ROBOTS_PER_QUERY = 2_000
/** Each poll overlaps the previous one, to find changes that a lost hint or a slow commit has hidden. */
const OVERLAP_MS = 5_000

/**
 * Synchronizes connections with the state of their robots in the database: sessions, tokens, and newer connections at
 * other gateways. Hints make it fast; polling makes it reliable.
 */
export function createRobotSync(deps: {
  store: GatewayServices['store']
  nodeId: string
  bus: Bus
  guard: Guard
  log: Log
  connectionOf: (robotId: string) => RobotConnection | undefined
  /** Returns whether a connection waits for its next epoch. A lookup follows. */
  isReadmitting: (connection: RobotConnection) => boolean
  /** Returns whether another connection of the robot waits for its admission here. */
  isAdmitting: (robotId: string) => boolean
  sessionRegistry: ControlSessionRegistry
  clockMs: () => number
}) {
  const { store, nodeId, bus, guard, log, connectionOf, isReadmitting, isAdmitting } = deps
  const { sessionRegistry, clockMs } = deps
  let pendingLookups = new Set<string>()
  let running: Promise<void> | undefined
  let lastPollMs = clockMs()
  let failed = false
  let readmit: (connection: RobotConnection) => void = () => {}

  /** Schedules a lookup of these robots, many in one query. Ignores robots that are unknown to this gateway. */
  function requestLookup(robotIds: Iterable<string>): void {
    for (const robotId of robotIds)
      if (connectionOf(robotId) ?? sessionRegistry.orphanOf(robotId)) pendingLookups.add(robotId)
    if (pendingLookups.size > 0) running ??= drain()
  }

  function known(robotId: string) {
    const connection = connectionOf(robotId)
    return { connection, epoch: connection?.epoch }
  }

  async function drain(): Promise<void> {
    try {
      while (pendingLookups.size > 0) {
        const batch = [...pendingLookups].slice(0, ROBOTS_PER_QUERY)
        for (const robotId of batch) pendingLookups.delete(robotId)
        const queried = new Map(batch.map((robotId) => [robotId, known(robotId)]))
        for (const state of await store.linkStates(batch)) {
          const before = queried.get(state.robotId)
          const now = known(state.robotId)
          // The result may be older than a connection, or an epoch of it, that began during the query.
          if (now.connection === before?.connection && now.epoch === before?.epoch) apply(state)
          else pendingLookups.add(state.robotId)
        }
      }
    } catch (cause) {
      pendingLookups = new Set() // the next poll covers the time since the last successful one
      failed = true
      log.warn({ err: cause }, 'failed to look up robots; the next poll finds them')
    } finally {
      running = undefined
    }
  }

  /**
   * Returns whether the newer epoch belongs to no socket: it was opened for this gateway, and the answer of the database was
   * lost. The robot must connect again, which a replaced one would not do.
   */
  const isAnswerLost = (state: LinkState, { robotId }: RobotConnection): boolean =>
    state.nodeId === nodeId && !isAdmitting(robotId)

  function apply(state: LinkState): void {
    const connection = connectionOf(state.robotId)
    const orphan = connection ? undefined : sessionRegistry.orphanOf(state.robotId)
    if (orphan) return sessionRegistry.applyOrphanLookup(orphan, state)
    if (!connection || connection.epoch === 0) return
    // The database may have its next epoch already. That is no newer connection.
    if (isReadmitting(connection)) return
    if (state.epoch > connection.epoch)
      return connection.close(isAnswerLost(state, connection) ? 'draining' : 'replaced')
    if (state.epoch < connection.epoch) return connection.close('draining') // the database has lost this connection: the robot reconnects
    if (state.tokenVersion !== connection.tokenVersion) return connection.close('credentialRevoked')
    if (!state.connected) return readmit(connection)
    sessionRegistry.applyLookup(connection, state.session)
  }

  return {
    requestLookup,
    /** Sets who opens the next epoch for a connection that the database has closed while its socket stayed open. */
    onClosedByDatabase(handle: (connection: RobotConnection) => void): void {
      readmit = handle
    },
    /** Subscribes to the hints of other processes; returns a function that unsubscribes. */
    listen: () => guard.subscribe(bus, 'robots.changed', ({ robotIds }) => requestLookup(robotIds)),

    /** Finds changes whose hint was lost. Throws if the database is unavailable. */
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

/**
 * Reconciles the connections in the database with those of this process.
 *
 * It ends connections that only the database has: their end was lost in a crash of the database. A connection must be
 * found twice in a row, because the database has a new connection before this process knows of it.
 *
 * It looks up the robots of connections that only this process has: the robot connected to another node, and the hint
 * was lost.
 */
export function createReconciler(deps: {
  store: GatewayServices['store']
  nodeId: string
  presence: Presence
  /** Returns the epoch of the robot's connection in this process. */
  epochOf: (robotId: string) => number | undefined
  localConnections: () => Iterable<RobotConnection>
  requestLookup: (robotIds: Iterable<string>) => void
}) {
  const { store, nodeId, presence, epochOf, localConnections, requestLookup } = deps
  let suspects = new Set<string>()

  return {
    async run(): Promise<void> {
      const storedConnections = await store.connectedTo(nodeId)
      const robotIds = new Set(storedConnections.map(({ robotId }) => robotId))
      requestLookup(
        [...localConnections()]
          .filter((connection) => !robotIds.has(connection.robotId))
          .map((connection) => connection.robotId),
      )
      const unknown = storedConnections.filter(({ robotId, epoch }) => (epochOf(robotId) ?? 0) < epoch)
      const keyOf = (entry: { robotId: string; epoch: number }) => `${entry.robotId}:${entry.epoch}`
      const before = suspects
      suspects = new Set(unknown.map(keyOf))
      for (const entry of unknown) {
        if (before.has(keyOf(entry)))
          await presence.disconnect({ ...entry, lastSignMs: 0, lastHeartbeatMs: 0 })
      }
    },
  }
}
