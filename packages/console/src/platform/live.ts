import type { QueryClient } from '@tanstack/react-query'
import type { NotificationEvent, RobotStatusEvent, SessionAction } from '@wheelhouse/protocol'
import { HubClient, HubError } from '@wheelhouse/sdk'
import { createStore } from '../base/store.ts'
import { keys } from './queries.ts'
import type { SessionGuard } from './session-guard.ts'
import { createSessionRoom, type QueryInvalidator, type SessionRoom } from './session-room.ts'

/** Creates the rooms of the page. Each session is watched once, whatever the number of components. */
export function createSessionRooms(hub: HubClient, queries: QueryInvalidator) {
  const rooms = new Map<string, { room: SessionRoom; users: number }>()
  return {
    /** Returns the shared room of a session. Call `leave` once for every `enter`. */
    enter(sessionId: string): SessionRoom {
      const entry = rooms.get(sessionId) ?? { room: createSessionRoom(hub, queries, sessionId), users: 0 }
      entry.users += 1
      rooms.set(sessionId, entry)
      return entry.room
    },
    leave(sessionId: string): void {
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

/** How often the page asks the hub for an answer, and how long an answer may take before what the page knows counts as old. */
const PING_MS = 250
const SILENT_MS = 750
/** After this time the page asks again. */
const ANSWER_MS = 2_000

/** `offline`: this device has no network. `reconnecting`: the connection was lost and the client retries. */
export type HubConnectionState = 'connecting' | 'live' | 'reconnecting' | 'offline'

/** The shared connection to the hub and the state received over it. */
export type Live = ReturnType<typeof createLive>

export function createLive(options: { url: string; session: SessionGuard; queries: QueryClient }) {
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
    // Another window may have chosen another one, which the cookie then names.
    organization: session.actingFor,
    onConnected: () => {
      // Changes during the outage were missed.
      if (connection.get() !== 'connecting') void queries.invalidateQueries()
      connection.set('live')
    },
    onDisconnected: () => {
      markLost()
      // The hub ends the connection of a member who is removed.
      void session.leaveLostTeam()
    },
    onAuthError: () => session.expire(),
    onError: (cause) => console.warn('hub:', cause),
  })
  let isStarted = false
  return {
    connection,
    /** Whether this page receives nothing from a gateway at present. It notices a lost network sooner than the hub does. */
    outdated: createStore(false),
    sessions: createSessionRooms(hub, queries),
    robots: createRobotStatusBoard(hub, queries),
    notifications: createNotificationFeed(hub, queries),
    /** Performs an action on a session that the page need not watch. See `HubClient.action` for its errors. */
    performAction: (sessionId: string, action: SessionAction, reason?: string) =>
      hub.action(sessionId, action, reason),
    /** Connects and reconnects until the page closes. Safe to call again. */
    connect(): void {
      if (isStarted) return
      isStarted = true
      const markLostUnlessConnected = () => {
        if (!hub.connected) markLost()
      }
      window.addEventListener('offline', () => connection.set('offline'))
      // Live again with the next answer of the hub, and not before: the connection may have died without a sign.
      window.addEventListener('online', markLost)
      hub.connect().catch(markLostUnlessConnected)
      watchForSilence(hub, connection, markLost)
    },
  }
}

/** Marks the connection as lost while the hub is silent on it, and as live again with its next answer. */
function watchForSilence(hub: HubClient, connection: Live['connection'], markLost: () => void): void {
  let isAsking = false
  /** When the oldest question that has no answer was asked. */
  let askedAtMs: number | undefined
  const ask = async () => {
    isAsking = true
    askedAtMs ??= performance.now()
    const hasAnswered = await hub.ping(ANSWER_MS).then(
      () => true,
      (cause) => cause instanceof HubError, // a refusal is an answer
    )
    isAsking = false
    if (!hasAnswered) return
    askedAtMs = undefined
    if (connection.get() === 'reconnecting') connection.set('live')
  }
  setInterval(() => {
    if (!hub.connected) askedAtMs = undefined
    else if (!isAsking) void ask()
    if (askedAtMs !== undefined && performance.now() - askedAtMs >= SILENT_MS) markLost()
  }, PING_MS)
}

const invalidatedKeys: Record<string, readonly (readonly string[])[]> = {
  // The live robots show their open sessions.
  session: [keys.sessions, keys.stats, keys.robots],
  extension: [keys.sessions],
  robot: [keys.sessions, keys.robots],
  certification: [keys.certifications, keys.robots],
  invoice: [keys.invoices, keys.stats],
  payout: [keys.payouts, keys.stats],
  webhook: [keys.webhooks],
}

function createNotificationFeed(hub: HubClient, queries: QueryClient) {
  const unread = createStore<number | undefined>(undefined)
  const listeners = new Set<(notification: NotificationEvent) => void>()
  let following = false
  const refresh = (queryKey: readonly string[]) => void queries.invalidateQueries({ queryKey })
  const report = (cause: unknown) => console.warn('notifications:', cause)
  return {
    /** The number of unread notifications, undefined until known. */
    unread,
    subscribe(listener: (notification: NotificationEvent) => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    /** Follows the notifications after an id. Later calls are ignored. */
    follow(after: string): void {
      if (following) return
      following = true
      hub
        .onNotification(
          (notification) => {
            refresh(keys.notifications)
            const kind = notification.type.split('.')[0] ?? ''
            for (const queryKey of invalidatedKeys[kind] ?? []) refresh(queryKey)
            for (const listener of [...listeners]) listener(notification)
          },
          { after },
        )
        .catch(report)
      hub
        .watchUnread((update) => {
          unread.set(update.unread)
          if (update.read) refresh(keys.notifications)
        })
        .catch(report)
    },
  }
}

/** A fleet that connects at once makes one refetch a second. */
const REFRESH_MS = 1_000

/** The last known status of every robot that the user may see, by robot id. */
export type RobotStatuses = ReadonlyMap<string, RobotStatusEvent>

function createRobotStatusBoard(hub: HubClient, queries: QueryClient) {
  const statuses = createStore<RobotStatuses | undefined>(undefined)
  let following = false
  const refresh = throttle(() => void queries.invalidateQueries({ queryKey: keys.robots }), REFRESH_MS)
  return {
    /** Undefined until the first list arrives. */
    statuses,
    follow(): void {
      if (following) return
      following = true
      const subscription = hub.watchRobots((update) => {
        if (update.kind === 'list') {
          statuses.set(new Map(update.robots.map((robot) => [robot.robot_id, robot])))
          return
        }
        const { robot } = update
        const old = statuses.get()?.get(robot.robot_id)
        statuses.update((known) => new Map(known).set(robot.robot_id, robot))
        // A heartbeat without a status change does not affect the REST queries.
        if (old?.status !== robot.status) refresh()
      })
      subscription.catch(() => {
        following = false
      })
    },
  }
}

/**
 * Returns a function that runs `work` at once, and then at most once per interval while it is called. The last call of
 * a burst is never lost. A burst of events would otherwise restart a query again and again, so that it never finishes.
 */
export function throttle(work: () => void, intervalMs: number): () => void {
  let isPending = false
  let timer: ReturnType<typeof setTimeout> | undefined
  const run = () => {
    isPending = false
    timer = setTimeout(() => {
      timer = undefined
      if (isPending) run()
    }, intervalMs)
    work()
  }
  return () => {
    if (timer === undefined) run()
    else isPending = true
  }
}
