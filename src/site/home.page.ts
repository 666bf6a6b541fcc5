import type { Middleware } from 'koa'
import type { Auth } from '../accounts/auth.ts'
import type { Users } from '../accounts/user.service.ts'
import type { Caller } from '../http/endpoint.ts'
import { AppError, notAllowed } from '../http/errors.ts'
import { html, sendPage } from '../http/page.ts'

/** `/` and `/dashboard`: who is signed in, and where to go from here. */
export function homePage(parts: { auth: Auth; users: Users }): Middleware {
  const { auth, users } = parts

  /** The signed-in person, or undefined: an expired cookie only means that nobody is signed in. */
  async function visitor(cookieHeader: string | undefined): Promise<Caller | undefined> {
    const token = auth.readSessionCookie(cookieHeader)
    if (!token) return undefined
    try {
      return await auth.authenticateToken(token)
    } catch (cause) {
      if (cause instanceof AppError && cause.status === 401) return undefined
      throw cause
    }
  }

  return async (http, next) => {
    if (http.path !== '/' && http.path !== '/dashboard') return await next()
    if (http.method !== 'GET' && http.method !== 'HEAD') {
      throw notAllowed(http.method, ['GET', 'HEAD'])
    }
    const caller = await visitor(http.req.headers.cookie)
    const email = caller && ((await users.byId(caller.userId)).email ?? '')
    sendPage(http, {
      status: 200,
      title: 'Wheelhouse',
      body: caller
        ? html`<p>You are signed in as <b>${caller.displayName}</b> ${email ?? ''}
(${caller.roles.join(', ') || 'no role yet'}).</p>
<form method="post" action="/auth/logout"><button>Sign out</button></form>`
        : html`<p>An open teleoperation hub. It is running.</p>
<p><a href="/auth/login">Sign in</a></p>`,
    })
  }
}
