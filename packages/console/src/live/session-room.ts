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

/** Older entries are dropped from the page; the session's export has them all. */
const MAX_EVENTS = 2_000
const TYPING_SHOWN_MS = 4_000

/** As much of the query cache as is needed to mark answers as old. */
export interface QueryInvalidator {
  invalidateQueries(which: { queryKey: readonly string[] }): Promise<unknown>
}

/** What is known of a session that is being watched. */
export interface LiveSessionState {
  /** The session as it stands; undefined until the hub has answered. */
  readonly session: WatchedSession | undefined
  /** Entries of its log, in order and without gaps; the newest `MAX_EVENTS`. */
  readonly events: readonly SessionLogEvent[]
  /** Whether everything up to now is there. */
  readonly caughtUp: boolean
  /** Who is typing just now. */
  readonly typing: readonly TypingEvent[]
  /** Chat messages of ours that are not in the log yet. */
  readonly outgoing: readonly OutgoingMessage[]
  /** Why it cannot be watched. */
  readonly error: unknown
}

export interface SessionRoom extends Chat {
  readonly sessionId: string
  readonly state: Store<LiveSessionState>
  /** Acts on the session. Sent once; see `HubClient.action` for what it throws. */
  performAction(action: SessionAction, reason?: string): Promise<WatchedSession>
  close(): void
}

const nothing: LiveSessionState = {
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
  const state = createStore(nothing)
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
      // The log's past says nothing of how the session stands now.
      ...(session && caughtUp && status && { session: { ...session, status } }),
    })
    if (caughtUp && sender === undefined) void queries.invalidateQueries({ queryKey: keys.sessions })
  }

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
      onSession: (session) => change({ session }),
      onReset: () => change({ events: [] }),
    })
    .then(
      () => {
        // Entries may have come after the session that was told with them.
        const { session, events } = state.get()
        const status = events.map(statusAfter).findLast((candidate) => candidate !== undefined)
        change({ caughtUp: true, ...(session && status && { session: { ...session, status } }) })
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
