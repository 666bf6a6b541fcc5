import type { Context, Middleware } from 'koa'
import { AppError, badRequest, notAllowed } from '../../../core/errors/errors.ts'
import { problemPages } from '../../../core/http/html-page.ts'
import { isLoopback } from '../../../core/http/loopback.ts'
import type { Secrets } from '../../../core/secrets.ts'
import { createOriginGuard, type OriginGuard } from '../auth/same-origin.ts'
import { readCookie, sessionCookieName, setCookie } from '../auth/session-cookie.ts'
import type { VerifyToken } from '../tokens/tokens.ts'
import type { Users } from '../users/user.service.ts'
import { createLoginClient, type LoginProvider } from './login-client.ts'
import { LOGIN_STATE_SECONDS, openLoginState, safeReturnTo, sealLoginState } from './login-state.ts'

/** Browsers store 4096 bytes of a cookie's name and value, and silently drop a longer cookie. */
const COOKIE_VALUE_LIMIT = 4_000

interface Deps {
  readonly baseUrl: string
  readonly corsOrigins: readonly string[]
  readonly oidcProvider: LoginProvider
  readonly secrets: Secrets
  readonly verifyToken: VerifyToken
  readonly users: Users
  readonly report: (cause: unknown) => void
}

interface LoginContext extends Deps {
  readonly client: ReturnType<typeof createLoginClient>
  readonly requireAllowedOrigin: OriginGuard
  readonly secure: boolean
  readonly stateCookie: string
  readonly sessionCookie: string
}

/** Serves the dashboard's sign-in with OpenID Connect: `/auth/login`, `/auth/callback`, `/auth/logout`. */
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
  const routes = new Map([
    ['/auth/login', { method: 'GET', run: begin }],
    ['/auth/callback', { method: 'GET', run: complete }],
    ['/auth/logout', { method: 'POST', run: logout }],
  ])
  const problems = problemPages(deps.report)

  return async (http, next) => {
    const route = routes.get(http.path)
    if (!route) return await next()
    await problems(http, async () => {
      if (http.method !== route.method) {
        throw notAllowed(http.method, [route.method])
      }
      await route.run(login, http)
    })
  }
}

async function begin(login: LoginContext, http: Context): Promise<void> {
  const base = new URL(login.baseUrl)
  if (http.hostname !== base.hostname && isLoopback(http.hostname) && isLoopback(base.hostname)) {
    // The provider redirects to the base URL. Browsers do not send a cookie of 127.0.0.1 to localhost.
    return http.redirect(new URL(http.url, base).href)
  }
  const { url, ...expected } = await login.client.begin(http.query.login_hint)
  const returnTo = safeReturnTo(login.baseUrl, http.query.return_to)
  setLoginCookie(login, http, login.stateCookie, sealLoginState(login.secrets, { ...expected, returnTo }), {
    seconds: LOGIN_STATE_SECONDS,
  })
  http.redirect(url.href)
}

async function complete(login: LoginContext, http: Context): Promise<void> {
  const state = openLoginState(login.secrets, readCookie(http.req.headers.cookie, login.stateCookie))
  // Any page can make a browser open this address. Only the browser that started the sign-in has the state cookie.
  if (!state || http.query.state !== state.state) {
    throw badRequest(
      'This sign-in has expired or was started in another browser. Start again.',
      'sign_in_expired',
    )
  }
  clearLoginCookie(login, http, login.stateCookie)
  const { candidates } = await login.client.finish(http.search, state)
  const { token, claims } = await firstAcceptedToken(login, candidates)
  await login.users.forClaims(claims)
  const seconds = Math.floor((claims.expiresAt.getTime() - Date.now()) / 1000)
  setLoginCookie(login, http, login.sessionCookie, token, { seconds })
  http.redirect(state.returnTo)
}

async function logout(login: LoginContext, http: Context): Promise<void> {
  login.requireAllowedOrigin(http)
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
