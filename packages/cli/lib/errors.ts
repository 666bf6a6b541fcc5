import { ApiError, HubClosedError, HubError, NotConnectedError, UnacknowledgedError } from '@wheelhouse/sdk'
import { Failure, outcomeOf } from './failure.ts'

/** Converts an error into a failure whose message says what is wrong and what to do next. */
export function toFailure(cause: unknown, server: string): Failure {
  if (cause instanceof Failure) return cause
  // The sdk wraps errors of the transport in an ApiError with status 0.
  if (cause instanceof ApiError && cause.cause instanceof Failure) return cause.cause
  if (cause instanceof ApiError || cause instanceof HubError) return failureFromResponse(cause, server)
  if (cause instanceof NotConnectedError) return unreachableFailure(server, cause)
  if (cause instanceof HubClosedError) return new Failure('unreachable', sentence(cause.message), { cause })
  if (cause instanceof UnacknowledgedError) {
    const next = 'It may or may not have taken effect. Check before you try again.'
    return new Failure('unreachable', `${server} did not confirm the command. ${next}`, { cause })
  }
  const message = cause instanceof Error ? cause.message : String(cause)
  return new Failure('internal', `Internal error of the program: ${message}`, { cause })
}

/** Returns whether a repetition may succeed: no response, or a platform that is not ready, too busy or too slow. */
export function isTransient(cause: unknown): boolean {
  if (cause instanceof Error && /^(Abort|Timeout)Error$/.test(cause.name)) return true
  if (!(cause instanceof ApiError)) return cause instanceof Failure && cause.outcome === 'unreachable'
  // A failure of the credential: only a new sign-in helps.
  if (cause.cause instanceof Failure) return cause.cause.outcome === 'unreachable'
  return cause.status === 0 || cause.status === 429 || cause.status === 408 || cause.status >= 500
}

/** Returns undefined for a resource that does not exist. */
export async function unlessMissing<T>(response: Promise<T>): Promise<T | undefined> {
  try {
    return await response
  } catch (cause) {
    if (cause instanceof ApiError && cause.status === 404) return undefined
    throw cause
  }
}

function failureFromResponse(cause: ApiError | HubError, server: string): Failure {
  const outcome = outcomeOf(cause.status)
  const message = sentence(cause.message)
  if (cause.status === 0) return unreachableFailure(server, cause)
  if (outcome === 'unreachable') {
    return new Failure(outcome, `${message} ${server} is not ready. Try again in a moment.`, { cause })
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

const ADDRESS_HINT =
  'Check that it runs at that address. Set another address with --server or WHEELHOUSE_URL.'

/** Returns the cause of a failed request in a few words. */
function reasonOf(cause: unknown): string {
  for (let error = cause; error instanceof Error; error = error.cause) {
    const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
    const known = REASONS[code]
    if (known) return ` (${known})`
    if (code.startsWith('ERR_TLS') || code.includes('CERT') || code.includes('SIGNED')) {
      return ` (its certificate is not trusted: ${code}; set NODE_EXTRA_CA_CERTS to the authority's certificate)`
    }
    if (error.name === 'TimeoutError') return ' (timeout)'
  }
  return ''
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'unknown host',
  EAI_AGAIN: 'the host name cannot be resolved',
  ECONNRESET: 'the connection broke',
  UND_ERR_SOCKET: 'the connection broke',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  EHOSTUNREACH: 'the host is unreachable',
  ENETUNREACH: 'no network',
}

function sentence(text: string): string {
  const trimmed = text.trim()
  return /[.!?…]$/.test(trimmed) ? trimmed : `${trimmed}.`
}
