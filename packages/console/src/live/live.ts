import type { QueryClient } from '@tanstack/react-query'
import type { SessionAction } from '@wheelhouse/protocol'
import { HubClient } from '@wheelhouse/sdk'
import type { SessionGuard } from '../auth/session-guard.ts'
import { createStore, type Store } from '../ui/store.ts'
import { createNotificationFeed, type NotificationFeed } from './notification-feed.ts'
import { createRobotStatusBoard, type RobotStatusBoard } from './robot-board.ts'
import { createSessionRoom, type QueryInvalidator, type SessionRoom } from './session-room.ts'

interface SessionRooms {
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

/** The longest delay between two attempts to connect: a page should not be outdated for long after the hub is back. */
const MAX_RECONNECT_MS = 2_000

/** `offline`: this device has no network. `reconnecting`: the connection was lost and the client retries. */
export type HubConnectionState = 'connecting' | 'live' | 'reconnecting' | 'offline'

/** The shared connection to the hub and the state received over it. */
export interface Live {
  readonly connection: Store<HubConnectionState>
  /** Whether this page receives nothing from a gateway at present. It notices a lost network sooner than the hub does. */
  readonly outdated: Store<boolean>
  readonly sessions: SessionRooms
  readonly robots: RobotStatusBoard
  readonly notifications: NotificationFeed
  /** Performs an action on a session that the page need not watch. See `HubClient.action` for its errors. */
  performAction(sessionId: string, action: SessionAction, reason?: string): Promise<unknown>
  /** Connects and reconnects until the page closes. Safe to call again. */
  connect(): void
}

export function createLive(options: { url: string; session: SessionGuard; queries: QueryClient }): Live {
  const { session, queries } = options
  const connection = createStore<HubConnectionState>('connecting')
  const markLost = () => connection.set(navigator.onLine ? 'reconnecting' : 'offline')
  const hub = new HubClient({
    url: options.url,
    reconnect: { maxMs: MAX_RECONNECT_MS },
    // The cookie authenticates. An attempt waits while the session is expired.
    token: async () => {
      await session.renewed()
      return undefined
    },
    onConnected: () => {
      // Changes during the outage were missed.
      if (connection.get() !== 'connecting') void queries.invalidateQueries()
      connection.set('live')
    },
    onDisconnected: markLost,
    onAuthError: () => session.expire(),
    onError: (cause) => console.warn('hub:', cause),
  })
  let isStarted = false
  return {
    connection,
    outdated: createStore(false),
    sessions: createSessionRooms(hub, queries),
    robots: createRobotStatusBoard(hub, queries),
    notifications: createNotificationFeed(hub, queries),
    performAction: (sessionId, action, reason) => hub.action(sessionId, action, reason),
    connect() {
      if (isStarted) return
      isStarted = true
      const markLostUnlessConnected = () => {
        if (!hub.connected) markLost()
      }
      window.addEventListener('offline', () => connection.set('offline'))
      window.addEventListener('online', () => (hub.connected ? connection.set('live') : markLost()))
      hub.connect().catch(markLostUnlessConnected)
    },
  }
}
