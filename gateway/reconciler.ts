import type { Presence } from '../src/presence/presence.service.ts'
import type { PresenceStore } from '../src/presence/presence.store.ts'

/**
 * Ends connections that the database believes in and this process does not have: their end was written and
 * then lost in a crash of the database. Only what is found twice in a row counts, since a connection that is
 * just being opened stands in the database before this process has heard of it.
 */
export function createReconciler(parts: {
  store: PresenceStore
  nodeId: string
  presence: Presence
  /** The epoch of the connection that this process holds for a robot. */
  epochOf: (robotId: string) => number | undefined
}) {
  const { store, nodeId, presence, epochOf } = parts
  let suspects = new Set<string>()

  return {
    async run(): Promise<void> {
      const unknown = (await store.connectedTo(nodeId)).filter(
        ({ robotId, epoch }) => (epochOf(robotId) ?? 0) < epoch,
      )
      const keyOf = (one: { robotId: string; epoch: number }) => `${one.robotId}:${one.epoch}`
      const before = suspects
      suspects = new Set(unknown.map(keyOf))
      for (const one of unknown) {
        if (before.has(keyOf(one))) await presence.disconnect({ ...one, lastSignMs: 0, lastHeartbeatMs: 0 })
      }
    },
  }
}
