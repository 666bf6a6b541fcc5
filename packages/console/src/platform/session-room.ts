import {
  type SessionAction,
  type SessionLogEvent,
  SessionStatus,
  type TypingEvent,
  type WatchedSession,
} from '@wheelhouse/protocol'
import type { HubClient } from '@wheelhouse/sdk'
import { createStore, type Store } from '../base/store.ts'
import { keys } from './queries.ts'

/** The page drops older entries. The export of the session contains all of them. */
const MAX_EVENTS = 2_000
const TYPING_SHOWN_MS = 4_000

export interface QueryInvalidator {
  invalidateQueries(which: { queryKey: readonly string[] }): Promise<unknown>
}

export type SessionRoom = ReturnType<typeof createSessionRoom>

const initialState = {
  /** The current session, undefined until the hub has answered. */
  session: undefined as WatchedSession | undefined,
  /** The newest `MAX_EVENTS` entries of the event log, in order and without gaps. */
  events: [] as readonly SessionLogEvent[],
  /** Whether all entries up to now have arrived. */
  caughtUp: false,
  typing: [] as readonly TypingEvent[],
  /** Chat messages of this user that the event log does not contain yet. */
  outgoing: [] as readonly OutgoingMessage[],
  error: undefined as unknown,
}
export type LiveSessionState = Readonly<typeof initialState>

const statusAfter = ({ data }: SessionLogEvent) => SessionStatus.safeParse(data.status).data

export function createSessionRoom(hub: HubClient, queries: QueryInvalidator, sessionId: string) {
  const state = createStore<LiveSessionState>(initialState)
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
    /** Performs an action on the session, without retries. See `HubClient.action` for its errors. */
    async performAction(action: SessionAction, reason?: string): Promise<WatchedSession> {
      const session = await hub.action(sessionId, action, reason)
      change({ session })
      return session
    },
    close(): void {
      for (const timer of typingTimers.values()) clearTimeout(timer)
      hub.unwatch(sessionId).catch((cause) => console.warn('unwatch:', cause))
    },
  }
}

const TYPING_INTERVAL_MS = 2_000

/** A message of this user that the event log does not contain yet. */
export interface OutgoingMessage {
  readonly clientMessageId: string
  readonly body: string
  readonly phase: 'sending' | 'sent' | 'failed'
  /** Its number in the event log, once acknowledged. */
  readonly seq?: number
  readonly error?: unknown
}

export type Chat = ReturnType<typeof createChat>

function createChat(hub: HubClient, sessionId: string, state: Store<LiveSessionState>) {
  let lastTypingSentAt = 0
  const updateOutgoing = (change: (old: readonly OutgoingMessage[]) => readonly OutgoingMessage[]) =>
    state.update((old) => ({ ...old, outgoing: change(old.outgoing) }))
  const patchMessage = (id: string, next: Partial<OutgoingMessage>) =>
    updateOutgoing((old) =>
      old.map((entry) => (entry.clientMessageId === id ? { ...entry, ...next } : entry)),
    )
  const discard = (id: string): void =>
    updateOutgoing((old) => old.filter((entry) => entry.clientMessageId !== id))

  async function transmit(id: string, body: string): Promise<void> {
    try {
      const { seq } = await hub.sendChat(sessionId, body, id)
      // The log entry can arrive before or after the acknowledgement.
      if ((state.get().events.at(-1)?.seq ?? 0) >= seq) discard(id)
      else patchMessage(id, { phase: 'sent', seq })
    } catch (error) {
      patchMessage(id, { phase: 'failed', error })
    }
  }

  return {
    discard,
    /** Sends a message. `outgoing` lists it until the event log contains it. */
    send(body: string): void {
      const clientMessageId = crypto.randomUUID()
      updateOutgoing((old) => [...old, { clientMessageId, body, phase: 'sending' }])
      void transmit(clientMessageId, body)
    },
    /** Retries a failed message. The hub deduplicates it. */
    retry(id: string): void {
      const message = state.get().outgoing.find((entry) => entry.clientMessageId === id)
      if (message?.phase !== 'failed') return
      patchMessage(id, { phase: 'sending', error: undefined })
      void transmit(id, message.body)
    },
    /** Sends a throttled typing indicator. Call it on every key press. */
    typing(): void {
      if (performance.now() - lastTypingSentAt < TYPING_INTERVAL_MS) return
      lastTypingSentAt = performance.now()
      hub.typing(sessionId)
    },
  }
}
