import type { RestClient } from '@wheelhouse/sdk'
import type { SessionRoom } from '../platform/session-room.ts'
import { createStop, RouteClosedError, type StopControl, stopOverRest } from '../session/stop.ts'
import { stopReasons } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
import { findLatchedStopInLog } from './latched-stop.ts'
import type { OperatorConnection } from './operator-connection.ts'

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
