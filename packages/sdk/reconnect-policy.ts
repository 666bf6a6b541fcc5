import { closeCodes, shouldReconnect } from '@wheelhouse/protocol'
import { Backoff, type BackoffOptions } from './backoff.ts'
import type { LinkEnd, LinkFailure } from './connection-lifecycle.ts'
import type { SocketEnd } from './link-socket.ts'
import type { TicketProvider } from './ticket-provider.ts'

/** Close codes after which another gateway is ready. */
const QUICK_RETRY_CODES: ReadonlySet<number> = new Set([closeCodes.robotMoved.code, closeCodes.draining.code])
const QUICK_RETRY_MS = 200
/** The loss of a connection that lasted this long resets the backoff. */
const STABLE_MS = 5_000
/** HTTP statuses of the upgrade that another ticket would not change. */
const FINAL_HTTP_STATUSES: ReadonlySet<number> = new Set([403, 404])
/** A ticket may expire before it arrives. After this many consecutive refusals, the cause is another one. */
const MAX_UNAUTHORIZED = 3

/** Decides whether and when the link of an operator or an observer reconnects. */
export class ReconnectPolicy {
  readonly #tickets: TicketProvider
  readonly #backoff: Backoff
  readonly #random: () => number
  #onlineSinceMs: number | null = null
  #unauthorized = 0
  /** One quick retry in a row avoids a hot loop between gateways that refer to each other. */
  #quickRetryAllowed = true

  constructor(tickets: TicketProvider, reconnect: BackoffOptions = {}) {
    this.#tickets = tickets
    this.#backoff = new Backoff(reconnect)
    this.#random = reconnect.random ?? Math.random
  }

  /** Reports that the gateway has admitted this link. */
  online(): void {
    this.#onlineSinceMs = performance.now()
    this.#unauthorized = 0
  }

  /** Returns the delay of the next attempt in milliseconds, or why the link ends. */
  verdict(failure: LinkFailure): number | LinkEnd {
    this.#resetIfStable()
    if (failure.at === 'socket') return this.#afterSocket(failure.end)
    const verdict = this.#tickets.verdict(failure.cause)
    return typeof verdict === 'number' ? verdict + this.#backoff.nextDelayMs() : verdict
  }

  #resetIfStable(): void {
    const sinceMs = this.#onlineSinceMs
    this.#onlineSinceMs = null
    if (sinceMs === null || performance.now() - sinceMs < STABLE_MS) return
    this.#backoff.reset()
    this.#quickRetryAllowed = true
  }

  #afterSocket(end: SocketEnd): number | LinkEnd {
    const { closeCode, httpStatus, retryAfterMs } = end
    if (httpStatus === 401) this.#unauthorized += 1
    const refused = httpStatus !== undefined && FINAL_HTTP_STATUSES.has(httpStatus)
    if (refused || this.#unauthorized >= MAX_UNAUTHORIZED || !shouldReconnect(closeCode)) return end
    if (!QUICK_RETRY_CODES.has(closeCode) || !this.#quickRetryAllowed)
      return this.#backoff.nextDelayMs(retryAfterMs)
    this.#quickRetryAllowed = false
    return this.#random() * QUICK_RETRY_MS
  }
}
