import type { DriveState, Role, SessionLogEvent } from '@wheelhouse/protocol'
import { t } from '../texts/texts.ts'
import type { LinkView } from './operator-connection.ts'

/** A remote stop that is in force until it is cleared. */
export interface LatchedStop {
  readonly reason: string
  /** Id of the user who requested it, null for the platform, undefined if unknown. */
  readonly by: string | null | undefined
  /** Role of that user according to the gateway, undefined if unknown. */
  readonly byRole?: Role | null | undefined
  readonly recorded: boolean
}

/** Returns the stop in force according to the gateway, or according to the event log while offline. */
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

/** Returns the stop in force according to the event log of a session. */
export function findLatchedStopInLog(events: readonly SessionLogEvent[]): LatchedStop | undefined {
  const lastCleared = events.findLastIndex(
    ({ type }) => type === 'session.stop_cleared' || type === 'session.ended',
  )
  // The first one counts: a second stop by another user has its own entry.
  const stopped = events.slice(lastCleared + 1).find(({ type }) => type === 'session.stopped')
  if (!stopped) return undefined
  const { reason, actor_id: by } = stopped.data
  return {
    reason: typeof reason === 'string' ? reason : t('drive.stop.noReason'),
    by: typeof by === 'string' ? by : null,
    recorded: true,
  }
}
