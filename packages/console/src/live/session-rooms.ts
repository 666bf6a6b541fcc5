import type { HubClient } from '@wheelhouse/sdk'
import { createSessionRoom, type SessionRoom, type StaleMarker } from './session-room.ts'

export interface SessionRooms {
  /** The room of a session, shared by all who have entered; call `leave` once for every `enter`. */
  enter(sessionId: string): SessionRoom
  leave(sessionId: string): void
}

/** Watches each session once, however many parts of the page look at it. */
export function createSessionRooms(hub: HubClient, queries: StaleMarker): SessionRooms {
  const rooms = new Map<string, { room: SessionRoom; users: number }>()
  return {
    enter(sessionId) {
      const known = rooms.get(sessionId) ?? { room: createSessionRoom(hub, queries, sessionId), users: 0 }
      known.users += 1
      rooms.set(sessionId, known)
      return known.room
    },
    leave(sessionId) {
      const known = rooms.get(sessionId)
      if (!known) return
      known.users -= 1
      if (known.users > 0) return
      rooms.delete(sessionId)
      known.room.close()
    },
  }
}
