import type { Presence } from '../../src/modules/presence/index.ts'
import type { GatewayServices } from '../base/services.ts'
import type { RobotConnection } from './robot-connection.ts'

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
