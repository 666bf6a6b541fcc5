import type { Context, Middleware } from 'koa'
import { AppError } from '../errors/errors.ts'
import { clientNetwork } from './client-address.ts'
import type { Access, Authenticate, Caller } from './endpoint.ts'
import { problemPages } from './html-page.ts'
import type { RateLimits } from './rate-limits.ts'

/** Asked by machines in their own rhythm; who limits them breaks them. */
const UNLIMITED = new Set(['/api/health', '/api/payments/webhook'])

export type Identify = (http: Context) => Promise<Caller>

/**
 * Counts those who come with bad credentials. Good ones always pass: nobody can lock out a neighbour behind the same
 * address with bad ones.
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

/** Lets a request in to a route: who is it, is it too much, may they. */
export function createRequestAuthorization(deps: {
  identify: Identify
  authorize: (caller: Caller, access: Exclude<Access, 'public'>) => void
  limits: RateLimits
  requestLimits: RequestLimits
}): Authenticate {
  const { identify, authorize, limits, requestLimits } = deps

  const identified = withFailureLimit(identify, limits)

  return async (http, access) => {
    const unlimited = UNLIMITED.has(http.path)
    if (access === 'public') {
      const policy = /^(GET|HEAD)$/.test(http.method) ? 'public' : 'public-writes'
      if (!unlimited) await limits.consume(http, policy, clientNetwork(http))
      return undefined
    }
    const caller = await identified(http)
    if (!unlimited) {
      await requestLimits(http, caller, { method: http.method, path: http.path, body: http.request.body })
    }
    authorize(caller, access)
    return caller
  }
}

export interface LimitedRequest {
  readonly method: string
  readonly path: string
  readonly body: unknown
}

/**
 * Counts authenticated requests, by whatever way they come. A stop by a participant of its session is never too many;
 * everybody else's attempts count, so that a session id is no way around the limit.
 */
export function createRequestLimits(deps: {
  limits: RateLimits
  /** Whether the caller is the operator or the owner of this session, or an admin and the session exists. */
  isParticipant: (caller: Caller, sessionId: string) => Promise<boolean>
}) {
  return async (http: Context, caller: Caller, { method, path, body }: LimitedRequest): Promise<void> => {
    const sessionId = method === 'PATCH' ? SESSION_PATH.exec(path)?.[1] : undefined
    if (sessionId !== undefined && isEmergencyStop(body) && (await deps.isParticipant(caller, sessionId)))
      return
    await deps.limits.consume(http, sessionId === undefined ? 'default' : 'sessions', credentialOf(caller))
  }
}
export type RequestLimits = ReturnType<typeof createRequestLimits>

const SESSION_PATH = /^\/api\/sessions\/([^/]+)$/

function isEmergencyStop(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'action' in body && body.action === 'emergency_stop'
}

/** A person's sessions count together: a new token must not be a new allowance. */
const credentialOf = ({ userId, credential }: Caller) =>
  credential.kind === 'api_key' ? `key:${credential.id}` : `user:${userId}`

/** Limits signing in, and what it asks of the built-in identity provider. */
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
