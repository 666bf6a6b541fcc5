import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import type { SessionRoom } from '../platform/session-room.ts'
import type { ObserverConnection } from './observer-connection.ts'
import { createStop, RouteClosedError, type StopControl, type StopRoute } from './stop.ts'
import { stopOverRest } from './stop-over-rest.ts'

/**
 * Returns the stop of a session. It goes over the gateway, the hub and the REST API at the same time and is retried
 * until it is recorded, even after the user opens another page.
 */
export function useStop(room: SessionRoom, observerConnection: ObserverConnection | undefined): StopControl {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  const { sessionId } = room
  const latest = useRef({ room, observerConnection })
  useEffect(() => {
    latest.current = { room, observerConnection }
  }, [room, observerConnection])
  const [stop] = useState(() => {
    const overGateway: StopRoute = async () => {
      const { observerConnection } = latest.current
      if (!observerConnection) throw new Error('not connected to the robot yet')
      await observerConnection.stop().catch((cause) => {
        throw new RouteClosedError('the connection to the robot has ended', { cause })
      })
    }
    const overHub: StopRoute = () => latest.current.room.performAction('emergency_stop')
    const overRest = stopOverRest(rest, sessionId)
    return createStop(
      () => [overGateway, overHub, overRest],
      () => {
        latest.current.observerConnection?.forgetStop()
        return queries.invalidateQueries({ queryKey: keys.sessions })
      },
    )
  })
  return stop
}
