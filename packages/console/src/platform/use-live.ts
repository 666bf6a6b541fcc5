import { useEffect, useState, useSyncExternalStore } from 'react'
import { useStore } from '../base/store.ts'
import type { RobotStatuses } from './live.ts'
import { usePlatform } from './platform.ts'
import type { SessionRoom } from './session-room.ts'

/** The live state of a session, and its room for chat and actions. */
export type LiveSession = NonNullable<ReturnType<typeof useLiveSession>>

/**
 * Watches a session while the component is mounted: event log, chat and actions (`live.room.send('Hello')`). Returns
 * undefined until the watch begins.
 */
export function useLiveSession(sessionId: string) {
  const { live } = usePlatform()
  const [room, setRoom] = useState<SessionRoom>()
  useEffect(() => {
    setRoom(live.sessions.enter(sessionId))
    return () => {
      setRoom(undefined)
      live.sessions.leave(sessionId)
    }
  }, [live, sessionId])
  const state = useSyncExternalStore(
    (listener) => room?.state.subscribe(listener) ?? (() => undefined),
    () => room?.state.get(),
  )
  return room && state && { ...state, room }
}

/** Returns the live status of every robot that the user may see, undefined until the first list arrives. */
export function useRobotStatuses(): RobotStatuses | undefined {
  const { live } = usePlatform()
  useEffect(() => live.robots.follow(), [live])
  return useStore(live.robots.statuses)
}

export const useConnection = () => useStore(usePlatform().live.connection)

/** Returns whether this page receives nothing from a gateway at present, although it should. */
export const useOutdated = () => useStore(usePlatform().live.outdated)
