import type { Context, Middleware } from 'koa'
import { AppError, badRequest, forbidden, notAllowed } from '../../../core/errors/errors.ts'
import { type Html, problemPages, sendPage, template } from '../../../core/http/html-page.ts'
import { isLoopback } from '../../../core/http/loopback.ts'
import type { Secrets } from '../../../core/secrets.ts'
import { createOriginGuard, type OriginGuard } from '../auth/same-origin.ts'
import { readCookie, sessionCookieName, setCookie } from '../auth/session-cookie.ts'
import { profileClaims, type VerifyToken } from '../tokens/tokens.ts'
import type { UserRow, Users } from '../users/user.service.ts'
import { createLoginClient, type LoginProvider } from './login-client.ts'
import {
  LOGIN_STATE_SECONDS,
  type LoginState,
  openLoginState,
  safeReturnTo,
  sealLoginState,
} from './login-state.ts'
import type { OrganizationClients, OrganizationProvider } from './organization-clients.ts'

/** Browsers store 4096 bytes of a cookie's name and value, and silently drop a longer cookie. */
const COOKIE_VALUE_LIMIT = 4_000

/** Decides who comes in with the provider of an organization. The provisioning module implements it. */
interface OrganizationSignIns {
  /** @throws 403 */
  complete(
    provider: OrganizationProvider,
    claims: Readonly<Record<string, unknown>>,
    name: string | undefined,
    users: Users,
  ): Promise<{ token: string; expiresAt: Date }>
  isToken(token: string): boolean
  end(token: string): Promise<void>
  /** Returns the organization whose provider a user has to sign in with; undefined if there is none. */
  requiredOf(user: Pick<UserRow, 'id' | 'email'>): Promise<string | undefined>
}

interface Organizations {
  readonly signIns: OrganizationSignIns
  readonly settings: {
    provider(organizationId: string): Promise<OrganizationProvider>
    organizationOf(email: string): Promise<string>
  }
  readonly clients: Pick<OrganizationClients, 'clientOf'>
}

interface Deps {
  readonly baseUrl: string
  readonly corsOrigins: readonly string[]
  readonly oidcProvider: LoginProvider
  readonly secrets: Secrets
  readonly verifyToken: VerifyToken
  readonly users: Users
  readonly now: () => Date
  readonly organizations: Organizations
  readonly report: (cause: unknown) => void
}

interface LoginContext extends Deps {
  readonly client: ReturnType<typeof createLoginClient>
  readonly requireAllowedOrigin: OriginGuard
  readonly secure: boolean
  readonly stateCookie: string
  readonly sessionCookie: string
}

type Route = {
  readonly method: 'GET' | 'POST'
  readonly run: (login: LoginContext, http: Context) => Promise<void>
}

/**
 * Serves the dashboard's sign-in with OpenID Connect: `/auth/login`, `/auth/callback`, `/auth/logout`, and below `/auth/sso` that with
 * the providers of organizations.
 */
export function loginRoutes(deps: Deps): Middleware {
  const { baseUrl, oidcProvider } = deps
  const secure = baseUrl.startsWith('https:')
  const login: LoginContext = {
    ...deps,
    client: createLoginClient({ oidcProvider, callbackUrl: `${baseUrl}/auth/callback` }),
    requireAllowedOrigin: createOriginGuard(deps),
    secure,
    stateCookie: secure ? '__Host-login' : '__login',
    sessionCookie: sessionCookieName(baseUrl),
  }
  const routes = new Map<string, Route>([
    ['/auth/login', { method: 'GET', run: begin }],
    ['/auth/callback', { method: 'GET', run: complete }],
    ['/auth/logout', { method: 'POST', run: logout }],
    ['/auth/sso', { method: 'GET', run: choose }],
  ])
  const problems = problemPages(deps.report)

  return async (http, next) => {
    const route = routes.get(http.path) ?? organizationRoute(http.path)
    if (!route) return await next()
    await problems(http, async () => {
      if (http.method !== route.method) {
        throw notAllowed(http.method, [route.method])
      }
      await route.run(login, http)
    })
  }
}

/** Returns the route of one organization. Each has a callback of its own, so that no provider can answer for another one. */
function organizationRoute(path: string): Route | undefined {
  const [, id, callback] = /^\/auth\/sso\/([0-9a-f-]{36})(\/callback)?$/.exec(path) ?? []
  if (id === undefined) return undefined
  return {
    method: 'GET',
    run: async (login, http) => {
      const provider = await login.organizations.settings.provider(id)
      await (callback ? completeAt(login, http, provider) : begin(login, http, provider))
    },
  }
}

const formTemplate = template<{
  returnTo: string | undefined
  email: string
}>(`<form method="get" action="/auth/sso">
<% if (it.returnTo) { %><input type="hidden" name="return_to" value="<%= it.returnTo %>"><% } %>
<label for="work-email">Your work e-mail address</label>
<div class="line"><input id="work-email" type="email" name="email" required maxlength="320" autocomplete="email" value="<%= it.email %>">
<button>Sign in with your organization</button></div></form>`)

/** Renders the form that leads to the provider of the organization that has verified the domain of an address. */
export const organizationSignInForm = (returnTo: string | undefined, email = ''): Html =>
  formTemplate({ returnTo, email })

/** Browsers apply the policy to the redirects of a form, too, and the provider is not known before. */
export const organizationFormTargets = (baseUrl: string): string[] =>
  baseUrl.startsWith('https:') ? ['https:'] : ['https:', 'http:']

/** Leads to the provider of an address, or asks for the address. */
async function choose(login: LoginContext, http: Context): Promise<void> {
  const { email, return_to } = http.query
  const returnTo = typeof return_to === 'string' ? return_to : undefined
  if (typeof email !== 'string' || !email.includes('@'))
    return sendPage(http, {
      status: 200,
      title: 'Sign in with your organization',
      formTargets: organizationFormTargets(login.baseUrl),
      body: organizationSignInForm(returnTo, typeof email === 'string' ? email : ''),
    })
  const id = await login.organizations.settings.organizationOf(email.trim())
  const query = new URLSearchParams({ login_hint: email.trim(), ...(returnTo && { return_to: returnTo }) })
  http.redirect(`/auth/sso/${id}?${query}`)
}

async function begin(login: LoginContext, http: Context, provider?: OrganizationProvider): Promise<void> {
  const base = new URL(login.baseUrl)
  if (http.hostname !== base.hostname && isLoopback(http.hostname) && isLoopback(base.hostname)) {
    // The provider redirects to the base URL. Browsers do not send a cookie of 127.0.0.1 to localhost.
    return http.redirect(new URL(http.url, base).href)
  }
  const client = provider ? login.organizations.clients.clientOf(provider) : login.client
  const { url, ...expected } = await client.begin(http.query.login_hint)
  const returnTo = safeReturnTo(login.baseUrl, http.query.return_to)
  const state = { ...expected, returnTo, ...(provider && { organizationId: provider.organizationId }) }
  setLoginCookie(login, http, login.stateCookie, sealLoginState(login.secrets, state), {
    seconds: LOGIN_STATE_SECONDS,
  })
  http.redirect(url.href)
}

/** Takes the state of the sign-in that a callback completes. @throws 400 for another sign-in than the one that this browser began */
function takeState(login: LoginContext, http: Context, organizationId: string | undefined): LoginState {
  const state = openLoginState(login.secrets, readCookie(http.req.headers.cookie, login.stateCookie))
  // Any page can make a browser open this address. Only the browser that started the sign-in has the state cookie.
  if (!state || http.query.state !== state.state || state.organizationId !== organizationId) {
    throw badRequest(
      'This sign-in has expired or was started in another browser. Start again.',
      'sign_in_expired',
    )
  }
  clearLoginCookie(login, http, login.stateCookie)
  return state
}

async function complete(login: LoginContext, http: Context): Promise<void> {
  const state = takeState(login, http, undefined)
  const { candidates } = await login.client.finish(http.search, state)
  const { token, claims } = await firstAcceptedToken(login, candidates)
  await requireNoOtherProvider(login, http, await login.users.forClaims(claims))
  const seconds = Math.floor((claims.expiresAt.getTime() - Date.now()) / 1000)
  setLoginCookie(login, http, login.sessionCookie, token, { seconds })
  http.redirect(state.returnTo)
}

/** Completes a sign-in with the provider of an organization. */
async function completeAt(login: LoginContext, http: Context, provider: OrganizationProvider): Promise<void> {
  const { signIns, clients } = login.organizations
  const state = takeState(login, http, provider.organizationId)
  http.state.signInUrl = `/auth/sso/${provider.organizationId}`
  const { claims } = await clients.clientOf(provider).finish(http.search, state)
  const { token, expiresAt } = await signIns.complete(
    provider,
    claims,
    profileClaims(claims).name,
    login.users,
  )
  const seconds = Math.floor((expiresAt.getTime() - login.now().getTime()) / 1000)
  setLoginCookie(login, http, login.sessionCookie, token, { seconds })
  http.redirect(state.returnTo)
}

/** @throws 403 for a member of an organization that enforces its own provider; administrators of the platform are not kept out */
async function requireNoOtherProvider(login: LoginContext, http: Context, user: UserRow): Promise<void> {
  if (login.users.assignedRoles(user).includes('admin')) return
  const organizationId = await login.organizations.signIns.requiredOf(user)
  if (organizationId === undefined) return
  const path = `/auth/sso/${organizationId}`
  http.state.signInUrl = path
  throw forbidden(
    'sign_in_required',
    `Your organization requires its own sign-in. Open ${login.baseUrl}${path} instead.`,
  )
}

async function logout(login: LoginContext, http: Context): Promise<void> {
  login.requireAllowedOrigin(http)
  await login.organizations.signIns.end(readCookie(http.req.headers.cookie, login.sessionCookie) ?? '')
  clearLoginCookie(login, http, login.sessionCookie)
  if (http.accepts('json', 'html') === 'html') {
    http.status = 303
    http.redirect(safeReturnTo(login.baseUrl, undefined))
  } else http.status = 204
}

/** Returns the first token that the platform accepts: the access token, or else the ID token. */
async function firstAcceptedToken(login: LoginContext, candidates: readonly string[]) {
  let failure: unknown
  for (const token of candidates) {
    if (token.length > COOKIE_VALUE_LIMIT) {
      failure ??= new Error('The token is too long for a cookie')
      continue
    }
    try {
      return { token, claims: await login.verifyToken(token) }
    } catch (cause) {
      if (!(cause instanceof AppError) || cause.status !== 401) throw cause
      failure ??= cause
    }
  }
  throw new AppError(
    502,
    'identity_provider_error',
    "The identity provider's token is not meant for this platform. An administrator must check IDP_AUDIENCE.",
    {
      cause: failure,
    },
  )
}

function setLoginCookie(
  login: LoginContext,
  http: Context,
  name: string,
  value: string,
  lifetime: { seconds: number },
): void {
  setCookie(http, name, value, { maxAgeSeconds: lifetime.seconds, secure: login.secure })
}

function clearLoginCookie(login: LoginContext, http: Context, name: string): void {
  setLoginCookie(login, http, name, '', { seconds: 0 })
}
