import type { HubClient } from '@wheelhouse/sdk'
import type { Store } from '../ui/store.ts'

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

export interface Chat {
  /** Sends a message. `outgoing` lists it until the event log contains it. */
  send(body: string): void
  /** Retries a failed message. The hub deduplicates it. */
  retry(clientMessageId: string): void
  /** Removes a failed message. */
  discard(clientMessageId: string): void
  /** Sends a throttled typing indicator. Call it on every key press. */
  typing(): void
}

interface ChatState {
  readonly outgoing: readonly OutgoingMessage[]
  readonly events: readonly { readonly seq: number }[]
}

export function createChat<S extends ChatState>(hub: HubClient, sessionId: string, state: Store<S>): Chat {
  let lastTypingSentAt = 0
  const updateOutgoing = (change: (old: readonly OutgoingMessage[]) => readonly OutgoingMessage[]) =>
    state.update((old) => ({ ...old, outgoing: change(old.outgoing) }))
  const patchMessage = (id: string, next: Partial<OutgoingMessage>) =>
    updateOutgoing((old) =>
      old.map((entry) => (entry.clientMessageId === id ? { ...entry, ...next } : entry)),
    )
  const discard = (id: string) => updateOutgoing((old) => old.filter((entry) => entry.clientMessageId !== id))

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
    send(body) {
      const clientMessageId = crypto.randomUUID()
      updateOutgoing((old) => [...old, { clientMessageId, body, phase: 'sending' }])
      void transmit(clientMessageId, body)
    },
    retry(id) {
      const message = state.get().outgoing.find((entry) => entry.clientMessageId === id)
      if (message?.phase !== 'failed') return
      patchMessage(id, { phase: 'sending', error: undefined })
      void transmit(id, message.body)
    },
    typing() {
      if (performance.now() - lastTypingSentAt < TYPING_INTERVAL_MS) return
      lastTypingSentAt = performance.now()
      hub.typing(sessionId)
    },
  }
}
