import type { DriveState, Role, SessionLogEvent } from '@wheelhouse/protocol'
import type { RestClient } from '@wheelhouse/sdk'
import type { SessionRoom } from '../platform/session-room.ts'
import { createStop, RouteClosedError, type StopControl, stopOverRest } from '../stop/stop.ts'
import { stopReasons } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
import type { LinkView, OperatorConnection } from './operator-connection.ts'

interface OperatorStopOptions {
  readonly operatorConnection: OperatorConnection
  readonly room: SessionRoom
  readonly rest: RestClient
}

/** Creates the operator's stop. It goes over the gateway, the hub and the REST API at the same time. */
export function createOperatorStop({ operatorConnection, room, rest }: OperatorStopOptions): StopControl {
  const overGateway = () =>
    operatorConnection.stop(stopReasons.cockpit).catch((cause) => {
      throw new RouteClosedError(t('drive.stop.linkEnded'), { cause })
    })
  const overHub = () => room.performAction('emergency_stop', stopReasons.cockpit)
  const overRest = stopOverRest(rest, room.sessionId, stopReasons.cockpit)
  return createStop(
    () => [overGateway, overHub, overRest],
    () => waitForLoggedStop(room),
  )
}

/** Resolves once the event log contains the recorded stop. */
function waitForLoggedStop(room: SessionRoom): Promise<void> {
  const { events } = room.state.get()
  if (findLatchedStopInLog(events)) return Promise.resolve()
  const after = events.at(-1)?.seq ?? 0
  const { promise, resolve } = Promise.withResolvers<void>()
  const unsubscribe = room.state.subscribe(() => {
    const isLogged = room.state
      .get()
      .events.some(({ type, seq }) => type === 'session.stopped' && seq > after)
    if (isLogged) resolve()
  })
  return promise.finally(unsubscribe)
}

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
function findLatchedStopInLog(events: readonly SessionLogEvent[]): LatchedStop | undefined {
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
