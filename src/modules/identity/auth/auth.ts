import type { IncomingHttpHeaders } from 'node:http'
import { type OrganizationAction, type Role, roleMay } from '@wheelhouse/protocol'
import type { Context } from 'koa'
import { AppError, badRequest, forbidden, notFound, unauthorized } from '../../../core/errors/errors.ts'
import type { Bus } from '../../../core/events/bus.ts'
import { clientNetwork } from '../../../core/http/client-address.ts'
import type { Access, Caller } from '../../../core/http/endpoint.ts'
import {
  isPersonal,
  requireCan,
  requireScope,
  scopesOfRoute,
} from '../../../core/permissions/authorization.ts'
import {
  type Membership,
  type Memberships,
  ownMembership,
  type SignIn,
} from '../../../core/permissions/caller.ts'
import type { ApiKeys } from '../api-keys/api-key.service.ts'
import { API_KEY_PREFIX } from '../api-keys/api-key-format.ts'
import type { VerifyToken } from '../tokens/tokens.ts'
import { requireNotSuspended } from '../users/suspension.service.ts'
import type { RoleAttributes, UserRow, Users } from '../users/user.service.ts'
import { createRememberedCallers } from './remembered-callers.ts'
import { createOriginGuard } from './same-origin.ts'
import { ORGANIZATION_COOKIE, readCookie, sessionCookieName } from './session-cookie.ts'

/** Names the organization that a request of a person acts for. */
const ORGANIZATION_HEADER = 'Wheelhouse-Organization'
/** Paths that name the organization that they are about. */
const ORGANIZATION_PATH = /^\/api\/organizations\/([0-9a-f-]{36})(?:\/|$)/i
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Reads sign-ins with the providers of organizations. The provisioning module implements it. */
export interface SignInTokens {
  isToken(token: string): boolean
  /** @throws 401 if the sign-in has ended */
  resolve(token: string): Promise<{ user: UserRow; expiresAt: Date; signIn: SignIn }>
}

/** Creates the authentication of callers over HTTP and sockets, and the authorization of routes. */
export function createAuth(deps: {
  users: Users
  apiKeys: ApiKeys
  memberships: Memberships
  verifyToken: VerifyToken
  signIns: SignInTokens
  baseUrl: string
  corsOrigins: readonly string[]
  bus: Bus
}) {
  const { users, apiKeys, memberships, verifyToken, signIns } = deps
  const remembered = createRememberedCallers(deps.bus)
  const cookieName = sessionCookieName(deps.baseUrl)
  const requireAllowedOrigin = createOriginGuard(deps)

  /** Returns the session token of a Cookie header, if present. */
  const readSessionCookie = (cookieHeader: string | undefined) => readCookie(cookieHeader, cookieName)

  /**
   * Returns the caller of an API key or a session token. The first use of a token creates its user.
   * @param organizationId what the caller acts for; by default the personal organization, and for a key always the one of the key
   * @param address the network of the request, which is recorded as that of the last use of a key
   * @throws 401 if the credential is not valid, 403 if the user is suspended, 404 for an organization that the user is no member of
   */
  async function authenticateToken(raw: string, organizationId?: string, address?: string): Promise<Caller> {
    if (organizationId !== undefined && !UUID.test(organizationId))
      throw badRequest(`${ORGANIZATION_HEADER} must be the id of an organization.`)
    const chosen = organizationId?.toLowerCase()
    try {
      const caller = await callerOf(raw, chosen, address)
      remembered.remember(raw, caller, chosen)
      return caller
    } catch (cause) {
      if (cause instanceof AppError && cause.status < 500) remembered.forget(raw, chosen)
      throw cause
    }
  }

  /**
   * Returns what a user may be while acting for an organization: as a member of a team, what the role in it says. Nobody becomes an
   * administrator of the platform by what the provider of an organization says.
   */
  function rolesIn(organization: Membership, userId: string, user: RoleAttributes, signIn?: SignIn): Role[] {
    const roles = users.rolesOf(user).filter((role) => role !== 'admin' || signIn === undefined)
    if (organization.id === userId) return roles
    const drives = roleMay(organization.role, 'sessions.drive')
    return [
      'client',
      ...(drives || roles.includes('operator') ? (['operator'] as const) : []),
      ...(roles.includes('admin') ? (['admin'] as const) : []),
    ]
  }

  async function callerOf(
    raw: string,
    organizationId: string | undefined,
    address: string | undefined,
  ): Promise<Caller> {
    if (raw.startsWith(API_KEY_PREFIX)) {
      const holder = await apiKeys.resolveKey(raw, address)
      requireNotSuspended(holder)
      const { userId, organization, scopes } = holder
      if (organizationId !== undefined && organizationId !== organization.id) throw notFound('Organization')
      return {
        userId,
        displayName: holder.display_name,
        isProgram: holder.service_of_id !== null,
        roles: rolesIn(organization, userId, holder),
        organization,
        permissionsVersion: holder.permissions_version,
        credential: { kind: 'api_key', id: holder.keyId, expiresAt: holder.expires_at, scopes },
      }
    }
    const { user, expiresAt, signIn } = signIns.isToken(raw) ? await signIns.resolve(raw) : await userOf(raw)
    requireNotSuspended(user)
    const organization = await membershipIn(user.id, organizationId, { signIn })
    return {
      userId: user.id,
      displayName: user.display_name,
      isProgram: false,
      roles: rolesIn(organization, user.id, user, signIn),
      organization,
      permissionsVersion: user.permissions_version,
      credential: { kind: 'session', expiresAt, token: raw, fromCookie: false, ...(signIn && { signIn }) },
    }
  }

  /** Returns the user of a token of the platform's provider. */
  async function userOf(raw: string): Promise<{ user: UserRow; expiresAt: Date; signIn?: SignIn }> {
    const claims = await verifyToken(raw)
    return { user: await users.forClaims(claims), expiresAt: claims.expiresAt }
  }

  /** @param session of a person who is signed in, with what; undefined for a key, and for a ticket, which was issued to one of both */
  const membershipIn = async (
    userId: string,
    organizationId: string | undefined,
    session?: { readonly signIn: SignIn | undefined },
  ): Promise<Membership> =>
    organizationId === undefined || organizationId === userId
      ? ownMembership(userId)
      : await memberships.of(userId, organizationId, session)

  /** Returns a caller as it is now: with the current roles and membership. @throws 404 if it is no member any more */
  async function currentCaller(caller: Caller): Promise<Caller> {
    const { userId, credential } = caller
    const signIn = credential.kind === 'session' ? credential.signIn : undefined
    const [user, organization] = await Promise.all([
      users.roleAttributes(userId),
      credential.kind === 'api_key'
        ? memberships.of(userId, caller.organization.id)
        : membershipIn(userId, caller.organization.id, { signIn }),
    ])
    return { ...caller, organization, roles: rolesIn(organization, userId, user, signIn) }
  }

  /** Requires that a caller may still perform an action. @throws 403; 404 if it is no member any more */
  async function requireStill(caller: Caller, action: OrganizationAction): Promise<void> {
    const { credential } = caller
    const [now, scopes] = await Promise.all([
      currentCaller(caller),
      credential.kind === 'api_key' ? apiKeys.scopesOf(credential.id) : null,
    ])
    requireCan(
      credential.kind === 'api_key' ? { ...now, credential: { ...credential, scopes } } : now,
      action,
    )
  }

  /** Returns what the holder of a ticket may do now. A ticket has the rights that the credential behind it had. */
  async function callerOfTicket(ticket: {
    readonly userId: string
    readonly organizationId: string
    readonly apiKeyId: string | undefined
    readonly endsAt: Date | undefined
  }): Promise<Pick<Caller, 'userId' | 'roles' | 'organization' | 'credential'>> {
    const { userId, organizationId, apiKeyId, endsAt } = ticket
    const [user, organization, scopes] = await Promise.all([
      users.roleAttributes(userId),
      membershipIn(userId, organizationId),
      apiKeyId === undefined ? null : apiKeys.scopesOf(apiKeyId),
    ])
    const expiresAt = endsAt ?? null
    return {
      userId,
      organization,
      roles: rolesIn(organization, userId, user),
      credential:
        apiKeyId === undefined
          ? { kind: 'session', expiresAt: expiresAt ?? new Date(), token: '', fromCookie: false }
          : { kind: 'api_key', id: apiKeyId, expiresAt, scopes },
    }
  }

  /**
   * Returns the organization that a request chooses: by a path below the organization, by its header or, in a browser, by the cookie of
   * the console.
   */
  function chosenOrganization(
    headers: IncomingHttpHeaders,
    usesCookie: boolean,
    path = '',
  ): string | undefined {
    const named = ORGANIZATION_PATH.exec(path)?.[1]
    if (named !== undefined) return named
    const header = headers[ORGANIZATION_HEADER.toLowerCase()]
    if (typeof header === 'string' && header !== '') return header
    return usesCookie ? readCookie(headers.cookie, ORGANIZATION_COOKIE) : undefined
  }

  /**
   * Authenticates a request. An Authorization header overrides the cookie even if it is not valid, so that the mistake
   * is visible.
   */
  async function identify(http: Context): Promise<Caller> {
    const header = http.req.headers.authorization
    if (header !== undefined) {
      const chosen = chosenOrganization(http.req.headers, false, http.path)
      const caller = await authenticateToken(bearer(header), chosen, clientNetwork(http))
      http.state.userId = caller.userId // for the log
      return caller
    }
    const cookie = readSessionCookie(http.req.headers.cookie)
    if (!cookie) throw unauthorized('unauthenticated', 'Sign in, or send an Authorization: Bearer header')
    const chosen = chosenOrganization(http.req.headers, true, http.path)
    const caller = await authenticateToken(cookie, chosen).catch((cause) => {
      // Another site learns nothing about memberships.
      if (cause instanceof AppError && cause.status === 404) requireAllowedOrigin(http)
      throw cause
    })
    http.state.userId = caller.userId
    requireAllowedOrigin(http)
    return caller.credential.kind === 'session'
      ? { ...caller, credential: { ...caller.credential, fromCookie: true } }
      : caller
  }

  /**
   * Returns the caller of a request without the database, if this process has accepted the credential before. Only for what halts a
   * robot: stops while the database does not answer, and changes of who controls it.
   */
  function rememberedCaller(http: Context): Caller | undefined {
    const { authorization, cookie } = http.req.headers
    if (authorization !== undefined)
      return remembered.find(
        authorization.replace(BEARER, ''),
        chosenOrganization(http.req.headers, false, http.path),
      )
    const token = readSessionCookie(cookie)
    if (token === undefined) return undefined
    try {
      requireAllowedOrigin(http)
    } catch {
      return undefined
    }
    return remembered.find(token, chosenOrganization(http.req.headers, true, http.path))
  }

  /** Checks that a caller may use a route. @throws 403 */
  function authorize(caller: Caller, access: Exclude<Access, 'public'>, method: string): void {
    if (access.sessionOnly && caller.credential.kind !== 'session') {
      throw forbidden('api_key_not_accepted', 'An API key is not accepted here. Use a session token.')
    }
    if (access.person && !isPersonal(caller)) {
      if (caller.isProgram)
        throw forbidden('service_account_not_accepted', 'A service account cannot do this. It is for people.')
      throw forbidden(
        'personal_key_required',
        'This belongs to you, not to a team. Use a session token, or an API key of your personal organization.',
      )
    }
    if (access.role && !caller.roles.includes(access.role)) {
      throw forbidden('role_required', `You need the ${access.role} role for this.`)
    }
    if (access.action === undefined) requireScope(caller, ...scopesOfRoute(access, method))
    else requireCan(caller, access.action)
  }

  /** Authenticates and authorizes a request for a route. Public routes ignore credentials. */
  async function authenticate(http: Context, access: Access): Promise<Caller | undefined> {
    if (access === 'public') return undefined
    const caller = await identify(http)
    authorize(caller, access, http.method)
    return caller
  }

  return {
    authenticateToken,
    identify,
    currentCaller,
    requireStill,
    callerOfTicket,
    chosenOrganization,
    rememberedCaller,
    authorize,
    authenticate,
    readSessionCookie,
  }
}
export type Auth = ReturnType<typeof createAuth>

const BEARER = /^Bearer +/i

function bearer(header: string): string {
  const token = /^Bearer +([\w.~+/=-]+) *$/i.exec(header)?.[1]
  if (!token) throw unauthorized('unauthenticated', 'The Authorization header must read: Bearer <token>')
  return token
}
