import { Backoff, type BackoffOptions } from './backoff.ts'

/** Sends one request; rejects when no response arrives. */
export type Send = (request: Request) => Promise<Response>

/** When and how often to repeat a request; see `RestClientOptions.retry`. */
export interface RetryOptions extends BackoffOptions {
  /** Largest number of attempts, including the first. Default 4. */
  readonly attempts?: number
  /** If the platform requests a longer delay, the client returns its refusal. Milliseconds, default 30,000. */
  readonly maxWaitMs?: number
  /** Narrows the repeated failures: gets a response, or the cause of none. Default: every transient failure. */
  readonly when?: (failure: Failed) => boolean
}

/** A response, or the cause of the failure without one. */
type Failed = Response | { readonly cause: unknown }

/** Attempts of a request, unless the program sets another number. */
const DEFAULT_ATTEMPTS = 4
/** Longest pause between two attempts, unless the program sets another one. */
const DEFAULT_MAX_WAIT_MS = 30_000
/** After these statuses of a proxy, the platform may or may not have received the request. */
const UNCERTAIN_STATUSES: ReadonlySet<number> = new Set([502, 503, 504])
const IDEMPOTENCY_KEY = 'Idempotency-Key'

/**
 * Repeats requests after transient failures if a repetition is safe: reads, and every POST, which gets an
 * `Idempotency-Key`. The platform executes a request with the same key once. It does not execute a request that it
 * refuses with 429, so every request is repeatable after 429.
 */
export function retrying(send: Send, options: RetryOptions = {}): Send {
  const { attempts = DEFAULT_ATTEMPTS, maxWaitMs = DEFAULT_MAX_WAIT_MS, when } = options
  return async (request) => {
    if (request.method === 'POST' && !request.headers.has(IDEMPOTENCY_KEY))
      request.headers.set(IDEMPOTENCY_KEY, crypto.randomUUID())
    const backoff = new Backoff(options)
    for (let attempt = 1; ; attempt++) {
      const outcome = await attemptOf(send, request.clone())
      const requestedDelayMs = outcome instanceof Response ? retryAfterMs(outcome) : 0
      const shouldRetry =
        attempt < attempts &&
        requestedDelayMs <= maxWaitMs &&
        mayRepeat(request, outcome) &&
        (when?.(outcome) ?? true)
      if (!shouldRetry) {
        if (outcome instanceof Response) return outcome
        throw outcome.cause
      }
      if (outcome instanceof Response) await outcome.body?.cancel()
      await waitFor(requestedDelayMs + backoff.nextDelayMs(), request.signal)
    }
  }
}

/** Returns the response, or the cause of the failure. */
async function attemptOf(send: Send, request: Request): Promise<Failed> {
  try {
    return await send(request)
  } catch (cause) {
    return { cause }
  }
}

function mayRepeat(request: Request, outcome: Failed): boolean {
  const idempotent = ['GET', 'HEAD'].includes(request.method) || request.headers.has(IDEMPOTENCY_KEY)
  // `fetch` rejects with a TypeError for a network failure, and with other errors for faults of the caller.
  if (!(outcome instanceof Response))
    return idempotent && outcome.cause instanceof TypeError && !request.signal.aborted
  if (outcome.status === 429) return true
  // A request with the same key is still running.
  if (outcome.status === 409)
    return request.headers.has(IDEMPOTENCY_KEY) && outcome.headers.has('Retry-After')
  return idempotent && UNCERTAIN_STATUSES.has(outcome.status)
}

/** Returns the delay that the platform requests; 0 without one. */
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
