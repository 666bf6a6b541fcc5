import type { DriveState, Role, SessionLogEvent } from '@wheelhouse/protocol'
import type { LinkView } from './operator-connection.ts'

/** A latched stop: the robot stays stopped until it is cleared. */
export interface LatchedStop {
  readonly reason: string
  /** Who pressed it, by id; null for the platform itself, undefined while it is not known. */
  readonly by: string | null | undefined
  /** In which part they did, as the gateway says; undefined while it is not known. */
  readonly byRole?: Role | null | undefined
  readonly recorded: boolean
}

/** The latched stop in force: as the gateway says, and by the log while there is no gateway. */
export function findLatchedStop(
  link: LinkView,
  state: DriveState | null,
  events: readonly SessionLogEvent[],
): LatchedStop | undefined {
  const logged = findLatchedStopInLog(events)
  if (link.phase !== 'online' || !state) return logged
  if (!state.stop?.latched) return undefined
  const { reason, recorded, by_role: byRole } = state.stop
  return { reason, recorded, byRole, by: logged?.reason === reason ? logged.by : undefined }
}

/** The latched stop in force by a session's log alone. */
export function findLatchedStopInLog(events: readonly SessionLogEvent[]): LatchedStop | undefined {
  const over = events.findLastIndex(({ type }) => type === 'session.stop_cleared' || type === 'session.ended')
  // The first since then: the owner's upon the operator's has an entry of its own.
  const stopped = events.slice(over + 1).find(({ type }) => type === 'session.stopped')
  if (!stopped) return undefined
  const { reason, actor_id: by } = stopped.data
  return {
    reason: typeof reason === 'string' ? reason : 'no reason given',
    by: typeof by === 'string' ? by : null,
    recorded: true,
  }
}
