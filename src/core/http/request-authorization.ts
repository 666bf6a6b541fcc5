import type { Context, Middleware } from 'koa'
import { AppError } from '../errors/errors.ts'
import type { ThreadTime } from '../process/thread-time.ts'
import { clientNetwork } from './client-address.ts'
import type { Access, Authenticate, Caller } from './endpoint.ts'
import { problemPages } from './html-page.ts'
import type { RateLimits } from './rate-limits.ts'

/** Machines call these paths at their own rate, and a limit would break them. */
const UNLIMITED = new Set(['/api/health', '/api/payments/webhook'])

export type Identify = (http: Context) => Promise<Caller>

/**
 * Counts requests with invalid credentials. Requests with valid credentials always pass, so a client cannot lock out
 * another client behind the same address.
 */
export function withFailureLimit(identify: Identify, limits: RateLimits): Identify {
  return async (http) => {
    try {
      return await identify(http)
    } catch (cause) {
      if (cause instanceof AppError && cause.status === 401) {
        await limits.consume(http, 'failed-auth', clientNetwork(http))
      }
      throw cause
    }
  }
}

/** Creates the authorization of requests to routes: authentication, rate limit, access check. */
export function createRequestAuthorization(deps: {
  identify: Identify
  authorize: (caller: Caller, access: Exclude<Access, 'public'>, method: string) => void
  limits: RateLimits
  requestLimits: RequestLimits
}): Authenticate {
  const { identify, authorize, limits, requestLimits } = deps

  const identified = withFailureLimit(identify, limits)

  return async (http, access, publicLimit) => {
    const unlimited = UNLIMITED.has(http.path)
    if (access === 'public') {
      // First by the code: a robot that repeats one that is not valid must not keep the others of its network from pairing.
      if (publicLimit === 'pairing')
        await limits.consume(http, 'pairing-code', `${clientNetwork(http)} ${codeOf(http.request.body)}`)
      const policy = publicLimit ?? (/^(GET|HEAD)$/.test(http.method) ? 'public' : 'public-writes')
      if (!unlimited) await limits.consume(http, policy, clientNetwork(http))
      return undefined
    }
    const caller = await identified(http)
    if (!unlimited) {
      await requestLimits(http, caller, { method: http.method, path: http.path, body: http.request.body })
    }
    authorize(caller, access, http.method)
    return caller
  }
}

const MAX_CODE = 32

/** Returns the pairing code of a body in one spelling. */
function codeOf(body: unknown): string {
  const code: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, 'code') : undefined
  return typeof code === 'string' ? code.slice(0, MAX_CODE).replace(/[\s-]/g, '').toUpperCase() : ''
}

export interface LimitedRequest {
  readonly method: string
  readonly path: string
  readonly body: unknown
}

/**
 * Counts authenticated requests over REST and MCP. A stop by a participant of its session is never limited. Attempts
 * by other users count, so that session ids do not bypass the limit.
 */
export function createRequestLimits(deps: {
  limits: RateLimits
  /** Returns whether the caller is the operator or the owner of this session, or an admin and the session exists. */
  isParticipant: (caller: Caller, sessionId: string) => Promise<boolean>
  /** The use of the main thread by accounts. */
  threadTime: Pick<ThreadTime, 'waitMs'>
}) {
  return async (http: Context, caller: Caller, { method, path, body }: LimitedRequest): Promise<void> => {
    const sessionId = method === 'PATCH' ? SESSION_PATH.exec(path)?.[1] : undefined
    if (sessionId !== undefined && isEmergencyStop(body) && (await deps.isParticipant(caller, sessionId)))
      return
    requireThreadTime(deps.threadTime, caller)
    await deps.limits.consume(http, sessionId === undefined ? 'default' : 'sessions', credentialOf(caller))
  }
}
export type RequestLimits = ReturnType<typeof createRequestLimits>

/**
 * Refuses the caller of an account that has used too much time of the main thread.
 * @throws 429
 */
export function requireThreadTime(
  threadTime: Pick<ThreadTime, 'waitMs'>,
  { userId }: Pick<Caller, 'userId'>,
): void {
  const waitMs = threadTime.waitMs(userId)
  if (waitMs === 0) return
  const seconds = Math.ceil(waitMs / 1_000)
  throw new AppError(
    429,
    'rate_limited',
    `Your requests need too much processor time. Send smaller ones. Try again in ${seconds} s.`,
    { headers: { 'Retry-After': String(seconds) } },
  )
}

const SESSION_PATH = /^\/api\/sessions\/([^/]+)$/

/** Returns whether the body of PATCH /api/sessions/{id} requests a stop. */
export function isEmergencyStop(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'action' in body && body.action === 'emergency_stop'
}

/**
 * Returns the key of a credential. All login sessions of a user share one limit, so that a new token does not reset
 * it.
 */
const credentialOf = ({ userId, credential }: Caller) =>
  credential.kind === 'api_key' ? `key:${credential.id}` : `user:${userId}`

/** Limits login requests and requests to the built-in identity provider. */
export function limitLogins(limits: RateLimits, report: (cause: unknown) => void): Middleware {
  const problems = problemPages(report)
  return async (http, next) => {
    const login = /^\/(auth|idp\/interaction)\//.test(http.path)
    if (!login && !http.path.startsWith('/idp/')) return await next()
    await problems(http, async () => {
      await limits.consume(http, login ? 'login' : 'public', clientNetwork(http))
      await next()
    })
  }
}
