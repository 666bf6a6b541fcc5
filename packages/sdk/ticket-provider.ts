import type { LinkEnd } from './connection-lifecycle.ts'
import { type GetTicket, type SessionTicket, TicketRefusedError } from './tickets.ts'

/** Gets tickets in time, and says what to make of it when there is none. */
export class TicketProvider {
  readonly #getTicket: GetTicket
  readonly #timeoutMs: number
  readonly #patienceMs: number
  /** Since when the platform has been answering that there is no ticket now; null since the last ticket. */
  #conflictSinceMs: number | null = null

  /** @param patienceMs how long conflicts (409) are put up with */
  constructor(getTicket: GetTicket, { timeoutMs, patienceMs }: { timeoutMs: number; patienceMs: number }) {
    this.#getTicket = getTicket
    this.#timeoutMs = timeoutMs
    this.#patienceMs = patienceMs
  }

  /** The next ticket. @throws whatever `getTicket` throws; Error when it takes too long */
  async next(): Promise<SessionTicket> {
    const { promise: late, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => reject(new Error('no ticket in time')), this.#timeoutMs)
    try {
      const ticket = await Promise.race([this.#getTicket(), late])
      this.#conflictSinceMs = null
      return ticket
    } finally {
      clearTimeout(timer)
    }
  }

  /** What follows from a failure of `next`: how long to wait at least, or why to give up. */
  verdict(cause: unknown): number | LinkEnd {
    if (!(cause instanceof TicketRefusedError)) return 0
    const end = { reason: cause.message, httpStatus: cause.status }
    if (cause.final) return end
    if (cause.status !== 409) return cause.retryAfterMs
    const nowMs = performance.now()
    this.#conflictSinceMs ??= nowMs
    return nowMs - this.#conflictSinceMs >= this.#patienceMs ? end : cause.retryAfterMs
  }
}
