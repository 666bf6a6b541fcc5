import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'
import type { SessionRoom } from '../live/session-room.ts'
import { createStop, type Stop, type StopWay, WayEndedError } from './stop.ts'
import { stopOverRest } from './stop-over-rest.ts'
import type { Watching } from './watching.ts'

/**
 * The stop of a session: over the gateway, the hub and the REST API at once, as far as they are there. One that was
 * pressed goes on until it is recorded, also when another page is opened meanwhile.
 */
export function useStop(room: SessionRoom, watching: Watching | undefined): Stop {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  const { sessionId } = room
  const parts = useRef({ room, watching })
  useEffect(() => {
    parts.current = { room, watching }
  }, [room, watching])
  const [stop] = useState(() => {
    const overGateway: StopWay = async () => {
      const { watching } = parts.current
      if (!watching) throw new Error('no connection to the robot yet')
      await watching.stop().catch((cause) => {
        throw new WayEndedError('the connection to the robot has ended', { cause })
      })
    }
    const overHub: StopWay = () => parts.current.room.act('emergency_stop')
    const overRest = stopOverRest(rest, sessionId)
    return createStop(
      () => [overGateway, overHub, overRest],
      () => {
        parts.current.watching?.forgetStop()
        return queries.invalidateQueries({ queryKey: keys.sessions })
      },
    )
  })
  return stop
}
