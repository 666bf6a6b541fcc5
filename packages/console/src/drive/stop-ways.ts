import type { RestClient } from '@wheelhouse/sdk'
import type { SessionRoom } from '../live/session-room.ts'
import { createStop, type Stop, WayEndedError } from '../session/stop.ts'
import { stopOverRest } from '../session/stop-over-rest.ts'
import type { Driver } from './driver.ts'
import { stopInLog } from './stop-in-force.ts'

const REASON = 'stopped from the cockpit'

interface Parts {
  readonly driver: Driver
  readonly room: SessionRoom
  readonly rest: RestClient
}

/** The operator's stop: over the gateway, the hub and the REST API at once, as far as they are there. */
export function createOperatorStop({ driver, room, rest }: Parts): Stop {
  const overGateway = () =>
    driver.stop(REASON).catch((cause) => {
      throw new WayEndedError('the link to the robot has ended', { cause })
    })
  const overHub = () => room.act('emergency_stop', REASON)
  const overRest = stopOverRest(rest, room.sessionId, REASON)
  return createStop(
    () => [overGateway, overHub, overRest],
    () => told(room),
  )
}

/** Settles once the log, which says what is in force, has the stop that was recorded just now. */
function told(room: SessionRoom): Promise<void> {
  const { events } = room.state.get()
  if (stopInLog(events)) return Promise.resolve()
  const after = events.at(-1)?.seq ?? 0
  const { promise, resolve } = Promise.withResolvers<void>()
  const unsubscribe = room.state.subscribe(() => {
    const isThere = room.state.get().events.some(({ type, seq }) => type === 'session.stopped' && seq > after)
    if (isThere) resolve()
  })
  return promise.finally(unsubscribe)
}
