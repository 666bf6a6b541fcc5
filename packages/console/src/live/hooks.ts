import { useEffect, useState, useSyncExternalStore } from 'react'
import { usePlatform } from '../app/platform.ts'
import { useStore } from '../ui/store.ts'
import type { RobotStatuses } from './robot-board.ts'
import type { LiveSessionState, SessionRoom } from './session-room.ts'

/** What is known of a session, and its room, through which one chats and acts. */
export interface LiveSession extends LiveSessionState {
  readonly room: SessionRoom
}

/**
 * A session while it is on the screen: its log in order, chat, and acts (`live.room.send('Hello')`). Undefined for
 * the moment before it is watched.
 */
export function useLiveSession(sessionId: string): LiveSession | undefined {
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

/** The status of every robot this person may see, as it changes; undefined until the first list has come. */
export function useRobotStatuses(): RobotStatuses | undefined {
  const { live } = usePlatform()
  useEffect(() => live.robots.follow(), [live])
  return useStore(live.robots.statuses)
}

/** How the page is connected to the hub. */
export const useConnection = () => useStore(usePlatform().live.connection)
