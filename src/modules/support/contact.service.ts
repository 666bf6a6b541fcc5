import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { CoreServices } from '../../core/core-services.ts'
import type { SendContact } from './contact.schema.ts'
import { CONTACT_MAILS } from './contact-delivery.ts'

/** Longest time that a response waits for the mail server. The delivery itself continues. */
const WAIT_LIMIT_MS = 3_000
/** How often a response looks whether another process has delivered its message. */
const POLL_MS = 200
/** Most responses that wait at a time. Others are sent at once. */
const MAX_WAITING = 100

/** Creates the service of the contact form. It stores a message; a job delivers it, for which the response waits a moment. */
export function createContact(
  deps: Pick<CoreServices, 'db' | 'transact' | 'now' | 'report'> & {
    /** Whether a mail server is configured. Without one, messages stay in the database. */
    canMail: boolean
    waitLimitMs?: number | undefined
  },
) {
  const { db, transact, now, report, canMail, waitLimitMs = WAIT_LIMIT_MS } = deps
  /** Ends the wait of a response whose message this process has delivered. */
  const waiting = new Map<string, () => void>()

  const store = (id: string, input: SendContact): Promise<void> =>
    transact(async (tx) => {
      const at = now()
      await tx.db
        .insertInto('contact_messages')
        .values({ id, ...input, created_at: at, next_attempt_at: at })
        .execute()
      tx.enqueue({ queue: CONTACT_MAILS, data: { id } })
    })

  /** Returns whether a process has delivered the message, or has failed to; undefined while it is neither. */
  async function storedOutcome(id: string): Promise<boolean | undefined> {
    const row = await db
      .selectFrom('contact_messages')
      .select(['delivered_at', 'last_error'])
      .where('id', '=', id)
      .executeTakeFirst()
    if (row?.delivered_at) return true
    return !row || row.last_error !== null ? false : undefined
  }

  /** Returns whether the message was delivered within the limit. */
  async function awaitDelivery(id: string, deliveredHere: AbortSignal): Promise<boolean> {
    const deadlineMs = performance.now() + waitLimitMs
    while (performance.now() < deadlineMs) {
      await delay(POLL_MS, undefined, { signal: deliveredHere }).catch(() => {})
      if (deliveredHere.aborted) return true
      const outcome = await storedOutcome(id).catch(report)
      if (typeof outcome === 'boolean') return outcome
    }
    return deliveredHere.aborted
  }

  return {
    /** Reports that the mail server has accepted a message from this process. */
    delivered: (id: string): void => waiting.get(id)?.(),

    /**
     * Stores a message and returns whether it was delivered immediately. Otherwise the delivery is retried.
     * @throws when it cannot be stored.
     */
    async submit(input: SendContact): Promise<{ id: string; delivered: boolean }> {
      const id = randomUUID()
      const deliveredHere = new AbortController()
      const waits = canMail && waiting.size < MAX_WAITING
      if (waits) waiting.set(id, () => deliveredHere.abort())
      try {
        await store(id, input)
        return { id, delivered: waits && (await awaitDelivery(id, deliveredHere.signal)) }
      } finally {
        waiting.delete(id)
      }
    },
  }
}
export type Contact = ReturnType<typeof createContact>
