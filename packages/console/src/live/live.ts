import type { QueryClient } from '@tanstack/react-query'
import { HubClient } from '@wheelhouse/sdk'
import type { SessionGuard } from '../auth/session-guard.ts'
import { createStore, type Store } from '../ui/store.ts'
import { createNotificationFeed, type NotificationFeed } from './notification-feed.ts'
import { createRobotStatusBoard, type RobotStatusBoard } from './robot-board.ts'
import { createSessionRooms, type SessionRooms } from './session-rooms.ts'

/** `offline`: this device has no network; `reconnecting`: the connection was lost and is being made again. */
export type HubConnectionState = 'connecting' | 'live' | 'reconnecting' | 'offline'

/** The page's one connection to the hub, and what is known through it. */
export interface Live {
  readonly connection: Store<HubConnectionState>
  readonly sessions: SessionRooms
  readonly robots: RobotStatusBoard
  readonly notifications: NotificationFeed
  /** Connects, and stays connected as long as the page is there. Safe to call again. */
  connect(): void
}

export function createLive(options: { url: string; session: SessionGuard; queries: QueryClient }): Live {
  const { session, queries } = options
  const connection = createStore<HubConnectionState>('connecting')
  const lost = () => connection.set(navigator.onLine ? 'reconnecting' : 'offline')
  const hub = new HubClient({
    url: options.url,
    // The cookie says who it is. An attempt waits while the session has to be renewed.
    token: async () => {
      await session.renewed()
      return undefined
    },
    onConnected: () => {
      // What changed meanwhile was not told.
      if (connection.get() !== 'connecting') void queries.invalidateQueries()
      connection.set('live')
    },
    onDisconnected: lost,
    onAuthError: () => session.expire(),
    onError: (cause) => console.warn('hub:', cause),
  })
  let isStarted = false
  return {
    connection,
    sessions: createSessionRooms(hub, queries),
    robots: createRobotStatusBoard(hub, queries),
    notifications: createNotificationFeed(hub, queries),
    connect() {
      if (isStarted) return
      isStarted = true
      const notLive = () => {
        if (!hub.connected) lost()
      }
      window.addEventListener('offline', () => connection.set('offline'))
      window.addEventListener('online', () => (hub.connected ? connection.set('live') : lost()))
      hub.connect().catch(notLive)
    },
  }
}
