import type { Context } from 'koa'
import { AppError, forbidden, unauthorized } from '../../../core/errors/errors.ts'
import type { Bus } from '../../../core/events/bus.ts'
import type { Access, Caller } from '../../../core/http/endpoint.ts'
import type { ApiKeys } from '../api-keys/api-key.service.ts'
import { API_KEY_PREFIX } from '../api-keys/api-key-format.ts'
import type { VerifyToken } from '../tokens/tokens.ts'
import { requireNotSuspended } from '../users/suspension.service.ts'
import type { Users } from '../users/user.service.ts'
import { createRememberedCallers } from './remembered-callers.ts'
import { createOriginGuard } from './same-origin.ts'
import { readCookie, sessionCookieName } from './session-cookie.ts'

/** Creates the authentication of callers over HTTP and sockets, and the authorization of routes. */
export function createAuth(deps: {
  users: Users
  apiKeys: ApiKeys
  verifyToken: VerifyToken
  baseUrl: string
  corsOrigins: readonly string[]
  bus: Bus
}) {
  const { users, apiKeys, verifyToken } = deps
  const remembered = createRememberedCallers(deps.bus)
  const cookieName = sessionCookieName(deps.baseUrl)
  const requireAllowedOrigin = createOriginGuard(deps)

  /** Returns the session token of a Cookie header, if present. */
  const readSessionCookie = (cookieHeader: string | undefined) => readCookie(cookieHeader, cookieName)

  /**
   * Returns the caller of an API key or a session token. The first use of a token creates its user.
   * @throws 401 if the credential is not valid, 403 if the user is suspended.
   */
  async function authenticateToken(raw: string): Promise<Caller> {
    try {
      const caller = await callerOf(raw)
      remembered.remember(raw, caller)
      return caller
    } catch (cause) {
      if (cause instanceof AppError && cause.status < 500) remembered.forget(raw)
      throw cause
    }
  }

  async function callerOf(raw: string): Promise<Caller> {
    if (raw.startsWith(API_KEY_PREFIX)) {
      const holder = await apiKeys.resolveKey(raw)
      requireNotSuspended(holder)
      return {
        userId: holder.userId,
        displayName: holder.display_name,
        roles: users.rolesOf(holder),
        permissionsVersion: holder.permissions_version,
        credential: { kind: 'api_key', id: holder.keyId, expiresAt: holder.expires_at },
      }
    }
    const claims = await verifyToken(raw)
    const user = await users.forClaims(claims)
    requireNotSuspended(user)
    return {
      userId: user.id,
      displayName: user.display_name,
      roles: users.rolesOf(user),
      permissionsVersion: user.permissions_version,
      credential: { kind: 'session', expiresAt: claims.expiresAt, token: raw, fromCookie: false },
    }
  }

  /**
   * Authenticates a request. An Authorization header overrides the cookie even if it is not valid, so that the mistake
   * is visible.
   */
  async function identify(http: Context): Promise<Caller> {
    const header = http.req.headers.authorization
    if (header !== undefined) {
      const caller = await authenticateToken(bearer(header))
      http.state.userId = caller.userId // for the log
      return caller
    }
    const cookie = readSessionCookie(http.req.headers.cookie)
    if (!cookie) throw unauthorized('unauthenticated', 'Sign in, or send an Authorization: Bearer header')
    const caller = await authenticateToken(cookie)
    http.state.userId = caller.userId
    requireAllowedOrigin(http)
    return caller.credential.kind === 'session'
      ? { ...caller, credential: { ...caller.credential, fromCookie: true } }
      : caller
  }

  /**
   * Returns the caller of a request without the database, if this process has accepted the credential before. Only for stops while
   * the database does not answer.
   */
  function rememberedCaller(http: Context): Caller | undefined {
    const { authorization, cookie } = http.req.headers
    if (authorization !== undefined) return remembered.find(authorization.replace(BEARER, ''))
    const token = readSessionCookie(cookie)
    if (token === undefined) return undefined
    try {
      requireAllowedOrigin(http)
    } catch {
      return undefined
    }
    return remembered.find(token)
  }

  /** Checks that a caller may use a route. @throws 403 */
  function authorize(caller: Caller, access: Exclude<Access, 'public'>): void {
    if (access.sessionOnly && caller.credential.kind !== 'session') {
      throw forbidden('api_key_not_accepted', 'An API key is not accepted here. Use a session token.')
    }
    if (access.role && !caller.roles.includes(access.role)) {
      throw forbidden('role_required', `You need the ${access.role} role for this.`)
    }
  }

  /** Authenticates and authorizes a request for a route. Public routes ignore credentials. */
  async function authenticate(http: Context, access: Access): Promise<Caller | undefined> {
    if (access === 'public') return undefined
    const caller = await identify(http)
    authorize(caller, access)
    return caller
  }

  return { authenticateToken, identify, rememberedCaller, authorize, authenticate, readSessionCookie }
}
export type Auth = ReturnType<typeof createAuth>

const BEARER = /^Bearer +/i

function bearer(header: string): string {
  const token = /^Bearer +([\w.~+/=-]+) *$/i.exec(header)?.[1]
  if (!token) throw unauthorized('unauthenticated', 'The Authorization header must read: Bearer <token>')
  return token
}
