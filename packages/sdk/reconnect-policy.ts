import { closeCodes, shouldReconnect } from '@wheelhouse/protocol'
import { Backoff, type BackoffOptions } from './backoff.ts'
import type { LinkEnd, LinkFailure } from './connection-lifecycle.ts'
import type { SocketEnd } from './link-socket.ts'
import type { TicketProvider } from './ticket-provider.ts'

/** Nothing is wrong after these: another gateway is ready. */
const QUICK_RETRY_CODES: ReadonlySet<number> = new Set([closeCodes.robotMoved.code, closeCodes.draining.code])
const QUICK_RETRY_MS = 200
/** A connection that lasted this long was a good one: its loss starts the backoff afresh. */
const STABLE_MS = 5_000
/** Answers to the upgrade that another ticket would not change. */
const FINAL_HTTP_STATUSES: ReadonlySet<number> = new Set([403, 404])
/** One ticket may have been too old by the time it arrived; so many in a row were not. */
const MAX_UNAUTHORIZED = 3

/** Decides whether and when the link of an operator or watcher comes back. */
export class ReconnectPolicy {
  readonly #tickets: TicketProvider
  readonly #backoff: Backoff
  readonly #random: () => number
  #onlineSinceMs: number | null = null
  #unauthorized = 0
  /** Once in a row: gateways that pass a client on and on must not be asked without end. */
  #quickRetryAllowed = true

  constructor(tickets: TicketProvider, reconnect: BackoffOptions = {}) {
    this.#tickets = tickets
    this.#backoff = new Backoff(reconnect)
    this.#random = reconnect.random ?? Math.random
  }

  /** The gateway has let this link in. */
  online(): void {
    this.#onlineSinceMs = performance.now()
    this.#unauthorized = 0
  }

  /** After how many milliseconds to try again, or why not to. */
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
