import { ERROR_CODE_HEADER, type ErrorCode } from '@wheelhouse/protocol'
import { z } from 'zod'
import { isDiskFull } from './disk-full.ts'
import { causesOf } from './error-causes.ts'

const MAX_TEXT_LENGTH = 500

/** Returns the header that carries an error code. */
export const errorHeader = (code: ErrorCode): Record<string, string> => ({ [ERROR_CODE_HEADER]: code })

/** An error that the caller may read. Anything else becomes a 500 without detail. */
export class AppError extends Error {
  readonly status: number
  readonly code: ErrorCode
  /** The headers of the response; the error code is one of them. */
  readonly headers: Readonly<Record<string, string>>
  /** Whether the configuration causes this answer, so that it is not reported as a failure. */
  readonly byConfiguration: boolean

  constructor(
    status: number,
    code: ErrorCode,
    message: string,
    options?: ErrorOptions & { headers?: Record<string, string>; byConfiguration?: boolean },
  ) {
    super(message, options)
    this.byConfiguration = options?.byConfiguration ?? false
    this.status = status
    this.code = code
    this.headers = { ...options?.headers, ...errorHeader(code) }
  }
}

export const badRequest = (why: string, code: ErrorCode = 'invalid_request') => new AppError(400, code, why)
export const unauthorized = (code: ErrorCode, why: string) =>
  new AppError(401, code, why, { headers: { 'WWW-Authenticate': 'Bearer' } })
export const forbidden = (code: ErrorCode, why: string) => new AppError(403, code, why)
/** Creates the error for every request of a suspended user. */
export const accountSuspended = (reason?: string | null) =>
  forbidden(
    'account_suspended',
    `An administrator has suspended your account. Ask an administrator to restore it.${reason ? ` Reason: ${reason}` : ''}`,
  )
/** Reads the same for an unknown resource and for another user's, so that callers cannot probe ids. */
export const notFound = (what: string, code: ErrorCode = 'not_found') =>
  new AppError(404, code, `${what} not found`)
export const routeNotFound = () => notFound('Route', 'route_not_found')
/** Creates the error for a path that exists, but not for this method. */
export const notAllowed = (method: string, allowed: readonly string[]) =>
  new AppError(405, 'method_not_allowed', `${method} is not allowed here. Use ${allowed.join(' or ')}.`, {
    headers: { Allow: allowed.join(', ') },
  })
export const conflict = (code: ErrorCode, why: string) => new AppError(409, code, why)
export const unavailable = (code: ErrorCode, why: string, cause?: unknown) =>
  new AppError(503, code, why, { cause, headers: { 'Retry-After': '1' } })

export const diskFull = (cause?: unknown) =>
  new AppError(
    503,
    'disk_full',
    'The disk of the platform is full, so nothing was stored. Try again later.',
    { cause, headers: { 'Retry-After': '30' } },
  )

/** Converts anything thrown into an error that may be shown to the caller. */
export function toAppError(cause: unknown): AppError {
  if (cause instanceof AppError) return cause
  if (cause instanceof z.ZodError) return badRequest(readableIssues(cause))
  if (isBadCompression(cause))
    return new AppError(
      400,
      'invalid_request',
      'The request body cannot be decompressed. Check its Content-Encoding.',
      {
        cause,
      },
    )
  if (isDiskFull(cause)) return diskFull(cause)
  if (isContention(cause))
    return unavailable('contention', 'Concurrent changes conflict. Try again shortly.', cause)
  if (isDatabaseUnreachable(cause))
    return unavailable('database_unavailable', 'The database is unreachable. Try again shortly.', cause)
  if (isHttpError(cause))
    return new AppError(cause.status, errorCodeOf(cause.status), httpErrorText(cause), { cause })
  return new AppError(500, 'internal_error', 'The platform failed to answer this request. Try again later.', {
    cause,
  })
}

/**
 * Returns the issues as `field: what is wrong`, the first issue of every field. The text is cut, because it repeats input
 * such as unknown keys.
 */
export function readableIssues(error: z.ZodError): string {
  const byField = new Map(error.issues.toReversed().map((issue) => [issue.path.join('.'), issue]))
  const first = error.issues.filter((issue) => byField.get(issue.path.join('.')) === issue)
  const text = first.slice(0, 5).map(readableIssue).join('; ')
  return text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH).toWellFormed()}…` : text
}

function readableIssue({ path, message, code }: z.core.$ZodIssue): string {
  if (path.length > 0) return `${path.join('.')}: ${message}`
  return code === 'invalid_type' ? `The request ${message}` : message
}

/**
 * Returns whether an error is a network failure or one of PostgreSQL's classes 08 (connection), 53 (resources), 57P
 * (shutdown), or 25006 (a server that is read-only). A connection that broke within a transaction fails its next query.
 */
export function isDatabaseUnreachable(cause: unknown): boolean {
  for (const error of causesOf(cause)) {
    const code = 'code' in error ? String(error.code) : ''
    if (/^(08|53|57P|25006)/.test(code) || networkFailure.test(code)) return true
    if (brokenConnection.test(error.message)) return true
  }
  return false
}

/** Returns whether an error is of PostgreSQL's class 40, such as a deadlock, after the last attempt. */
const isContention = (cause: unknown): boolean =>
  cause instanceof Error && 'code' in cause && /^40\w{3}$/.test(String(cause.code))

const networkFailure =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/
const brokenConnection =
  /Connection terminated|not queryable|timeout exceeded when trying to connect|Query read timeout/

/** Returns the name of the violated constraint for a unique violation of PostgreSQL, else undefined. */
export const uniqueViolation = (cause: unknown): string | undefined => violatedConstraint(cause, '23505')

/** Returns the name of the violated constraint for an exclusion violation of PostgreSQL, else undefined. */
export const exclusionViolation = (cause: unknown): string | undefined => violatedConstraint(cause, '23P01')

/** Returns the name of the violated constraint for a check of PostgreSQL, also one by a trigger, else undefined. */
export const violatedCheck = (cause: unknown): string | undefined => violatedConstraint(cause, '23514')

/** Returns the name of the violated constraint for a missing reference, else undefined. */
export const missingReference = (cause: unknown): string | undefined => violatedConstraint(cause, '23503')

function violatedConstraint(cause: unknown, code: string): string | undefined {
  for (const error of causesOf(cause)) {
    if ('code' in error && error.code === code && 'constraint' in error) return String(error.constraint)
  }
  return undefined
}

/** Error codes of gzip, deflate and brotli for malformed input. */
const badCompression = /^(Z_DATA_ERROR|Z_BUF_ERROR|Z_NEED_DICT|ERR__ERROR_FORMAT_\w+)$/

/** Returns whether a compressed body does not match its Content-Encoding. */
function isBadCompression(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && badCompression.test(String(cause.code))
}

function isHttpError(cause: unknown): cause is Error & { status: number; type?: string } {
  return (
    cause instanceof Error &&
    'status' in cause &&
    typeof cause.status === 'number' &&
    cause.status >= 400 &&
    cause.status < 500
  )
}

function httpErrorText(cause: Error & { status: number }): string {
  if (cause.status === 413) return 'The request body is too large. Send less.'
  if (cause.status === 400) return 'The request body is not valid JSON.'
  return cause.message
}

const codesByStatus: Readonly<Record<number, ErrorCode>> = {
  401: 'unauthenticated',
  404: 'not_found',
  405: 'method_not_allowed',
  406: 'not_acceptable',
  408: 'request_timeout',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  429: 'rate_limited',
  431: 'headers_too_large',
  503: 'not_ready',
}

/** Returns the code of an error of which only the status is known, such as one of a library. */
export const errorCodeOf = (status: number): ErrorCode =>
  codesByStatus[status] ?? (status >= 500 ? 'internal_error' : 'invalid_request')
