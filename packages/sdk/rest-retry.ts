import { Backoff, type BackoffOptions } from './backoff.ts'

/** Sends one request; rejects when no answer came. */
export type Send = (request: Request) => Promise<Response>

/** When to ask the REST API again, and how often; see `RestClientOptions.retry`. */
export interface RetryOptions extends BackoffOptions {
  /** How often a request is sent at most, the first time included. Default 4. */
  readonly attempts?: number
  /** When the platform says to come back later than this, its refusal is the answer. Milliseconds, default 30,000. */
  readonly maxWaitMs?: number
}

const DEFAULT_ATTEMPTS = 4
const DEFAULT_MAX_WAIT_MS = 30_000
/** Whoever answers so may or may not have passed the request on. */
const UNCERTAIN_STATUSES: ReadonlySet<number> = new Set([502, 503, 504])
const IDEMPOTENCY_KEY = 'Idempotency-Key'

/**
 * Sends again what failed for the time being, where that cannot have an effect twice: reading, and every POST, which
 * gets an `Idempotency-Key` for that; the platform carries out one key once. A refusal with 429 was not carried out,
 * so anything may be sent again after it.
 */
export function retrying(send: Send, options: RetryOptions = {}): Send {
  const { attempts = DEFAULT_ATTEMPTS, maxWaitMs = DEFAULT_MAX_WAIT_MS } = options
  return async (request) => {
    if (request.method === 'POST' && !request.headers.has(IDEMPOTENCY_KEY))
      request.headers.set(IDEMPOTENCY_KEY, crypto.randomUUID())
    const backoff = new Backoff(options)
    for (let attempt = 1; ; attempt++) {
      const outcome = await attemptOf(send, request.clone())
      const requestedDelayMs = outcome instanceof Response ? retryAfterMs(outcome) : 0
      const shouldRetry = attempt < attempts && requestedDelayMs <= maxWaitMs && mayRepeat(request, outcome)
      if (!shouldRetry) {
        if (outcome instanceof Response) return outcome
        throw outcome.cause
      }
      if (outcome instanceof Response) await outcome.body?.cancel()
      await waitFor(requestedDelayMs + backoff.nextDelayMs(), request.signal)
    }
  }
}

/** The answer, or why there is none. */
async function attemptOf(send: Send, request: Request): Promise<Response | { readonly cause: unknown }> {
  try {
    return await send(request)
  } catch (cause) {
    return { cause }
  }
}

function mayRepeat(request: Request, outcome: Response | { readonly cause: unknown }): boolean {
  const idempotent = ['GET', 'HEAD'].includes(request.method) || request.headers.has(IDEMPOTENCY_KEY)
  // `fetch` rejects with a TypeError when the network fails; anything else is the caller's own doing.
  if (!(outcome instanceof Response))
    return idempotent && outcome.cause instanceof TypeError && !request.signal.aborted
  if (outcome.status === 429) return true
  // The same key is just being worked on.
  if (outcome.status === 409)
    return request.headers.has(IDEMPOTENCY_KEY) && outcome.headers.has('Retry-After')
  return idempotent && UNCERTAIN_STATUSES.has(outcome.status)
}

/** How long the platform asks to wait; 0 where it does not say. */
function retryAfterMs(answer: Response): number {
  const seconds = Number(answer.headers.get('Retry-After') ?? 0)
  return seconds > 0 ? seconds * 1_000 : 0
}

/** @throws the signal's reason once it is aborted */
async function waitFor(delayMs: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, delayMs)
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    await promise
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
  }
}
