import type { Presence, PresenceStore } from '../../src/modules/presence/index.ts'
import type { RobotConnection } from './robot-connection.ts'

/**
 * Ends connections that the database believes in and this process does not have: their end was written and
 * then lost in a crash of the database. Only what is found twice in a row counts, since a connection that is
 * just being opened stands in the database before this process has heard of it.
 *
 * The other way round, connections that the database does not believe in are looked up: the robot went to
 * another node, and the hint was lost.
 */
export function createReconciler(deps: {
  store: PresenceStore
  nodeId: string
  presence: Presence
  /** The epoch of the connection that this process holds for a robot. */
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
