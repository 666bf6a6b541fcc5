import { withTimeout } from '../../core/concurrency/concurrency.ts'
import { isClaimed } from '../../core/mail/mail-queue.ts'
import type { SendContact } from './contact.schema.ts'
import type { ContactDelivery } from './contact-delivery.ts'
import type { ClaimedContact, ContactQueue } from './contact-queue.ts'

/** Longest that an answer waits for the mail server. The attempt itself goes on. */
const ATTEMPT_LIMIT_MS = 3_000
/** Messages that requests may be sending at a time; more than that wait within the limit, then for the worker. */
const CONCURRENT_ATTEMPTS = 5
/** Requests that may stand in line for one of these places. */
const QUEUE_LIMIT = 100

/** Taking in contact messages: stored first, then one attempt to deliver while the sender waits. */
export function createContact(deps: {
  contactQueue: ContactQueue
  /** Undefined where no mail server is configured: messages wait in the database. */
  delivery: ContactDelivery | undefined
  report: (cause: unknown) => void
  attemptLimitMs?: number
}) {
  const { contactQueue, delivery, report, attemptLimitMs = ATTEMPT_LIMIT_MS } = deps
  const slots = createTimedSemaphore(CONCURRENT_ATTEMPTS)

  /** Whether the server took the message over within the limit. Never fails: the message is stored already. */
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
    await withTimeout(deadline - performance.now(), 'the mail server takes its time', work).catch(() => {})
    return delivered
  }

  return {
    /**
     * Stores a message and tells whether it could be delivered at once; otherwise that is tried until it works.
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

/** A number of places, given in the order of asking. */
function createTimedSemaphore(count: number) {
  let free = count
  const waiting = new Set<() => void>()

  return {
    /** True with a place, false when none came free in time. */
    async acquire(limitMs: number): Promise<boolean> {
      if (free > 0) {
        free--
        return true
      }
      if (waiting.size >= QUEUE_LIMIT) return false
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.add(resolve)
      return await withTimeout(limitMs, 'no place', promise).then(
        () => true,
        () => !waiting.delete(resolve), // who was called in the same moment has a place after all
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
