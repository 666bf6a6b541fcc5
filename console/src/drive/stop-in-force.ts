import type { DriveState, SessionLogEvent } from '@wheelhouse/protocol'
import type { LinkView } from './driver.ts'

/** A latched stop: the robot stays stopped until it is cleared. */
export interface StopInForce {
  readonly reason: string
  /** Who pressed it, by id; null for the platform itself, undefined while it is not known. */
  readonly by: string | null | undefined
  readonly recorded: boolean
}

/** The latched stop in force: as the gateway says, and by the log while there is no gateway. */
export function stopInForce(
  link: LinkView,
  state: DriveState | null,
  events: readonly SessionLogEvent[],
): StopInForce | undefined {
  const logged = stopInLog(events)
  if (link.phase !== 'online' || !state) return logged
  if (!state.stop?.latched) return undefined
  const { reason, recorded } = state.stop
  return { reason, recorded, by: logged?.reason === reason ? logged.by : undefined }
}

/** The latched stop in force by a session's log alone. */
export function stopInLog(events: readonly SessionLogEvent[]): StopInForce | undefined {
  const last = events.findLast(
    ({ type }) => type === 'session.stopped' || type === 'session.stop_cleared' || type === 'session.ended',
  )
  if (last?.type !== 'session.stopped') return undefined
  const { reason, actor_id: by } = last.data
  return {
    reason: typeof reason === 'string' ? reason : 'no reason given',
    by: typeof by === 'string' ? by : null,
    recorded: true,
  }
}
