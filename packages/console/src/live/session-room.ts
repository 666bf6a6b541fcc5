import {
  type SessionAction,
  type SessionLogEvent,
  SessionStatus,
  type TypingEvent,
  type WatchedSession,
} from '@wheelhouse/protocol'
import type { HubClient } from '@wheelhouse/sdk'
import { keys } from '../api/keys.ts'
import { createStore, type Store } from '../ui/store.ts'
import { type Chat, createChat, type OutgoingMessage } from './session-chat.ts'

/** The page drops older entries. The export of the session contains all of them. */
const MAX_EVENTS = 2_000
const TYPING_SHOWN_MS = 4_000

/** The part of the query cache that invalidates queries. */
export interface QueryInvalidator {
  invalidateQueries(which: { queryKey: readonly string[] }): Promise<unknown>
}

/** The live state of a watched session. */
export interface LiveSessionState {
  /** The current session, undefined until the hub has answered. */
  readonly session: WatchedSession | undefined
  /** The newest `MAX_EVENTS` entries of the event log, in order and without gaps. */
  readonly events: readonly SessionLogEvent[]
  /** Whether all entries up to now have arrived. */
  readonly caughtUp: boolean
  /** Participants who are typing. */
  readonly typing: readonly TypingEvent[]
  /** Chat messages of this user that the event log does not contain yet. */
  readonly outgoing: readonly OutgoingMessage[]
  /** Why the watch failed. */
  readonly error: unknown
}

export interface SessionRoom extends Chat {
  readonly sessionId: string
  readonly state: Store<LiveSessionState>
  /** Performs an action on the session, without retries. See `HubClient.action` for its errors. */
  performAction(action: SessionAction, reason?: string): Promise<WatchedSession>
  close(): void
}

const initialState: LiveSessionState = {
  session: undefined,
  events: [],
  caughtUp: false,
  typing: [],
  outgoing: [],
  error: undefined,
}

const statusAfter = ({ data }: SessionLogEvent) => SessionStatus.safeParse(data.status).data

/** Watches one session through the hub. */
export function createSessionRoom(hub: HubClient, queries: QueryInvalidator, sessionId: string): SessionRoom {
  const state = createStore(initialState)
  const change = (next: Partial<LiveSessionState>) => state.update((old) => ({ ...old, ...next }))
  const typingTimers = new Map<string, ReturnType<typeof setTimeout>>()
  const chat = createChat(hub, sessionId, state)

  function onEvent(event: SessionLogEvent): void {
    const { session, events, caughtUp, outgoing, typing } = state.get()
    const status = statusAfter(event)
    const sender = event.type === 'chat.message' ? event.data.sender_id : undefined
    change({
      events: [...events, event].slice(-MAX_EVENTS),
      outgoing: outgoing.filter((message) => message.seq === undefined || message.seq > event.seq),
      typing: typing.filter(({ user_id }) => user_id !== sender),
      // Past entries do not change the current status.
      ...(session && caughtUp && status && { session: { ...session, status } }),
    })
    if (caughtUp && sender === undefined) refetch()
  }

  /** Reads the answers of the API again: they can be older than the log that the hub has sent. */
  const refetch = () => void queries.invalidateQueries({ queryKey: keys.sessions })

  function onTyping(event: TypingEvent): void {
    const others = () => state.get().typing.filter(({ user_id }) => user_id !== event.user_id)
    clearTimeout(typingTimers.get(event.user_id))
    typingTimers.set(
      event.user_id,
      setTimeout(() => change({ typing: others() }), TYPING_SHOWN_MS),
    )
    change({ typing: [...others(), event] })
  }

  hub
    .watch(sessionId, {
      onEvent,
      onTyping,
      onSession: (session) => {
        change({ session })
        // After a reconnect. The hub sends every further change.
        if (state.get().caughtUp) refetch()
      },
      onReset: () => change({ events: [] }),
    })
    .then(
      () => {
        // Entries can be newer than the session that arrived with them.
        const { session, events } = state.get()
        const status = events.map(statusAfter).findLast((candidate) => candidate !== undefined)
        change({ caughtUp: true, ...(session && status && { session: { ...session, status } }) })
        refetch()
      },
      (error) => change({ error }),
    )

  return {
    ...chat,
    sessionId,
    state,
    async performAction(action, reason) {
      const session = await hub.action(sessionId, action, reason)
      change({ session })
      return session
    },
    close() {
      for (const timer of typingTimers.values()) clearTimeout(timer)
      hub.unwatch(sessionId).catch((cause) => console.warn('unwatch:', cause))
    },
  }
}
