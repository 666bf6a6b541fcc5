import type { LinkEnd } from './connection-lifecycle.ts'
import { type GetTicket, type SessionTicket, TicketRefusedError } from './tickets.ts'

/** Requests tickets with a timeout, and decides how to proceed after a failure. */
export class TicketProvider {
  readonly #getTicket: GetTicket
  readonly #timeoutMs: number
  readonly #patienceMs: number
  /** Time of the first conflict (409) since the last ticket; null without one. */
  #conflictSinceMs: number | null = null

  /** @param patienceMs how long the link retries after conflicts (409) */
  constructor(getTicket: GetTicket, { timeoutMs, patienceMs }: { timeoutMs: number; patienceMs: number }) {
    this.#getTicket = getTicket
    this.#timeoutMs = timeoutMs
    this.#patienceMs = patienceMs
  }

  /** Returns the next ticket. @throws the errors of `getTicket`; Error on timeout */
  async next(): Promise<SessionTicket> {
    const { promise: late, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(
      () => reject(new Error(`no ticket within ${this.#timeoutMs} ms`)),
      this.#timeoutMs,
    )
    try {
      const ticket = await Promise.race([this.#getTicket(), late])
      this.#conflictSinceMs = null
      return ticket
    } finally {
      clearTimeout(timer)
    }
  }

  /** Returns the shortest delay after a failure of `next`, or why the link ends. */
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
