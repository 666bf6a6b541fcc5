import type { HubClient } from '@wheelhouse/sdk'
import { createSessionRoom, type QueryInvalidator, type SessionRoom } from './session-room.ts'

export interface SessionRooms {
  /** The room of a session, shared by all who have entered; call `leave` once for every `enter`. */
  enter(sessionId: string): SessionRoom
  leave(sessionId: string): void
}

/** Watches each session once, however many parts of the page look at it. */
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
