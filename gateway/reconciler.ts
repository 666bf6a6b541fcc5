import type { Presence } from '../src/modules/presence/presence.service.ts'
import type { PresenceStore } from '../src/modules/presence/presence.store.ts'
import type { RobotLink } from './robot-link.ts'

/**
 * Ends connections that the database believes in and this process does not have: their end was written and
 * then lost in a crash of the database. Only what is found twice in a row counts, since a connection that is
 * just being opened stands in the database before this process has heard of it.
 *
 * The other way round, connections that the database does not believe in are looked up: the robot went to
 * another node, and the hint was lost.
 */
export function createReconciler(parts: {
  store: PresenceStore
  nodeId: string
  presence: Presence
  /** The epoch of the connection that this process holds for a robot. */
  epochOf: (robotId: string) => number | undefined
  held: () => Iterable<RobotLink>
  lookUp: (robotIds: Iterable<string>) => void
}) {
  const { store, nodeId, presence, epochOf, held, lookUp } = parts
  let suspects = new Set<string>()

  return {
    async run(): Promise<void> {
      const believed = await store.connectedTo(nodeId)
      const robotIds = new Set(believed.map(({ robotId }) => robotId))
      lookUp([...held()].filter((link) => !robotIds.has(link.robotId)).map((link) => link.robotId))
      const unknown = believed.filter(({ robotId, epoch }) => (epochOf(robotId) ?? 0) < epoch)
      const keyOf = (one: { robotId: string; epoch: number }) => `${one.robotId}:${one.epoch}`
      const before = suspects
      suspects = new Set(unknown.map(keyOf))
      for (const one of unknown) {
        if (before.has(keyOf(one))) await presence.disconnect({ ...one, lastSignMs: 0, lastHeartbeatMs: 0 })
      }
    },
  }
}
