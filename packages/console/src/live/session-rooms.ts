import type { HubClient } from '@wheelhouse/sdk'
import { createSessionRoom, type QueryInvalidator, type SessionRoom } from './session-room.ts'

export interface SessionRooms {
  /** Returns the shared room of a session. Call `leave` once for every `enter`. */
  enter(sessionId: string): SessionRoom
  leave(sessionId: string): void
}

/** Creates the rooms of the page. Each session is watched once, whatever the number of components. */
export function createSessionRooms(hub: HubClient, queries: QueryInvalidator): SessionRooms {
  const rooms = new Map<string, { room: SessionRoom; users: number }>()
  return {
    enter(sessionId) {
      const entry = rooms.get(sessionId) ?? { room: createSessionRoom(hub, queries, sessionId), users: 0 }
      entry.users += 1
      rooms.set(sessionId, entry)
      return entry.room
    },
    leave(sessionId) {
      const entry = rooms.get(sessionId)
      if (!entry) return
      entry.users -= 1
      if (entry.users > 0) return
      rooms.delete(sessionId)
      entry.room.close()
    },
  }
}
