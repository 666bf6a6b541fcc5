import pTimeout from 'p-timeout'
import { isClaimed } from '../../core/mail/mail-queue.ts'
import type { SendContact } from './contact.schema.ts'
import type { ContactDelivery } from './contact-delivery.ts'
import type { ClaimedContact, ContactQueue } from './contact-queue.ts'

/** Longest time that a response waits for the mail server. The attempt itself continues. */
const ATTEMPT_LIMIT_MS = 3_000
/** Most messages that requests send at a time. Others wait up to the limit, then for the worker. */
const CONCURRENT_ATTEMPTS = 5
/** Most requests that wait for a slot. */
const QUEUE_LIMIT = 100

/** Creates the service of the contact form. It stores a message, then attempts one delivery while the sender waits. */
export function createContact(deps: {
  contactQueue: ContactQueue
  /** Undefined without a mail server: messages stay in the database. */
  delivery: ContactDelivery | undefined
  report: (cause: unknown) => void
  attemptLimitMs?: number
}) {
  const { contactQueue, delivery, report, attemptLimitMs = ATTEMPT_LIMIT_MS } = deps
  const slots = createTimedSemaphore(CONCURRENT_ATTEMPTS)

  /** Returns whether the mail server accepted the message within the limit. Never fails: the message is stored. */
  async function deliverNow(message: ClaimedContact, attempt: ContactDelivery['attempt']): Promise<boolean> {
    const deadline = performance.now() + attemptLimitMs
    if (!(await slots.acquire(attemptLimitMs))) {
      await contactQueue.release(message)
      return false
    }
    let delivered = false
    const work = attempt(message, () => {
      delivered = true
    })
      .catch(report)
      .finally(slots.release)
    // p-timeout refuses a limit of 0 or less.
    const milliseconds = Math.max(1, deadline - performance.now())
    await pTimeout(work, { milliseconds }).catch(() => {})
    return delivered
  }

  return {
    /**
     * Stores a message and returns whether it was delivered immediately. Otherwise the worker retries the delivery.
     * @throws when it cannot be stored.
     */
    async submit(input: SendContact): Promise<{ id: string; delivered: boolean }> {
      const open = delivery?.isOpen() ? delivery : undefined
      const message = await contactQueue.store(input, open !== undefined)
      if (!open || !isClaimed(message)) return { id: message.id, delivered: false }
      const delivered = await deliverNow(message, open.attempt).catch((cause) => {
        report(cause)
        return false
      })
      return { id: message.id, delivered }
    },
  }
}
export type Contact = ReturnType<typeof createContact>

/** Creates a semaphore that serves callers in order and with a timeout. */
function createTimedSemaphore(count: number) {
  let free = count
  const waiting = new Set<() => void>()

  return {
    /** Resolves to true with a slot, or to false when no slot was free in time. */
    async acquire(limitMs: number): Promise<boolean> {
      if (free > 0) {
        free--
        return true
      }
      if (waiting.size >= QUEUE_LIMIT) return false
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.add(resolve)
      return await pTimeout(promise, { milliseconds: limitMs }).then(
        () => true,
        () => !waiting.delete(resolve), // a slot may have become free in the same moment
      )
    },
    release() {
      const [next] = waiting
      if (!next) free++
      else {
        waiting.delete(next)
        next()
      }
    },
  }
}
