import { ApiError, HubClosedError, HubError, NotConnectedError, UnacknowledgedError } from '@wheelhouse/sdk'
import { outcomeOf } from './exit-codes.ts'
import { Failure } from './failure.ts'

/** What a person or a program is told of a failure: what went wrong, and what to do next. */
export function toFailure(cause: unknown, server: string): Failure {
  if (cause instanceof Failure) return cause
  // What went wrong on the way to the platform comes wrapped as "no answer".
  if (cause instanceof ApiError && cause.cause instanceof Failure) return cause.cause
  if (cause instanceof ApiError || cause instanceof HubError) return failureFromResponse(cause, server)
  if (cause instanceof NotConnectedError) return unreachableFailure(server, cause)
  if (cause instanceof HubClosedError) return new Failure('unreachable', sentence(cause.message), { cause })
  if (cause instanceof UnacknowledgedError) {
    const next = 'it may or may not have been done. Look before you try again.'
    return new Failure('unreachable', `${server} did not confirm it: ${next}`, { cause })
  }
  const message = cause instanceof Error ? cause.message : String(cause)
  return new Failure('internal', `This is a fault of the program: ${message}`, { cause })
}

/** Whether the same may work in a moment: no answer, a platform that is not ready, too busy or too slow. */
export function isTransient(cause: unknown): boolean {
  if (cause instanceof Error && /^(Abort|Timeout)Error$/.test(cause.name)) return true
  if (!(cause instanceof ApiError)) return cause instanceof Failure && cause.outcome === 'unreachable'
  // Of the credential: nothing but signing in helps.
  if (cause.cause instanceof Failure) return cause.cause.outcome === 'unreachable'
  return cause.status === 0 || cause.status === 429 || cause.status === 408 || cause.status >= 500
}

function failureFromResponse(cause: ApiError | HubError, server: string): Failure {
  const outcome = outcomeOf(cause.status)
  const message = sentence(cause.message)
  if (cause.status === 0) return unreachableFailure(server, cause)
  if (outcome === 'unreachable') {
    return new Failure(outcome, `${message} ${server} is not ready: try again in a moment.`, { cause })
  }
  if (outcome === 'not_signed_in') {
    return new Failure(outcome, `${message} Sign in with: wheelhouse login ${server}`, { cause })
  }
  const retryAfterS = cause instanceof ApiError ? cause.retryAfterS : undefined
  if (outcome === 'too_many' && retryAfterS !== undefined) {
    return new Failure(outcome, `${message} Try again in ${retryAfterS} s.`, { cause })
  }
  return new Failure(outcome, message, { cause })
}

const unreachableFailure = (server: string, cause: Error) =>
  new Failure('unreachable', `${server} cannot be reached${reasonOf(cause)}. ${ADDRESS_HINT}`, { cause })

const ADDRESS_HINT = 'Is it running, and is that its address? Another one: --server, or WHEELHOUSE_URL.'

/** What lies under a failed request, in a few words. */
function reasonOf(cause: unknown): string {
  for (let error = cause; error instanceof Error; error = error.cause) {
    const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
    const known = REASONS[code]
    if (known) return ` (${known})`
    if (code.startsWith('ERR_TLS') || code.includes('CERT') || code.includes('SIGNED')) {
      return ` (its certificate is not trusted: ${code}; give the authority's with NODE_EXTRA_CA_CERTS)`
    }
    if (error.name === 'TimeoutError') return ' (no answer in time)'
  }
  return ''
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'the name cannot be looked up',
  ECONNRESET: 'the connection broke',
  UND_ERR_SOCKET: 'the connection broke',
  ETIMEDOUT: 'no answer in time',
  UND_ERR_CONNECT_TIMEOUT: 'no answer in time',
  UND_ERR_HEADERS_TIMEOUT: 'no answer in time',
  EHOSTUNREACH: 'no way to that host',
  ENETUNREACH: 'no network',
}

function sentence(text: string): string {
  const trimmed = text.trim()
  return /[.!?…]$/.test(trimmed) ? trimmed : `${trimmed}.`
}
