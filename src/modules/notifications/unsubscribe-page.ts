import type { Context, Middleware } from 'koa'
import { notAllowed } from '../../core/errors/errors.ts'
import { clientNetwork } from '../../core/http/client-address.ts'
import { html, sendPage } from '../../core/http/html-page.ts'
import type { RateLimits } from '../../core/http/rate-limits.ts'
import type { Unsubscribing } from './unsubscribe.ts'

/**
 * `/unsubscribe`: the link in every mail about notifications. Only POST changes anything, with one click of a mail
 * program (RFC 8058) or of the button here: programs that look at links before people do must not unsubscribe them.
 * The token is the whole authority, so neither a cookie nor what the body says matters.
 */
export function unsubscribePage(deps: { unsubscribing: Unsubscribing; rateLimits: RateLimits }): Middleware {
  const { unsubscribing, rateLimits } = deps
  return async (http, next) => {
    if (http.path !== '/unsubscribe') return await next()
    if (!/^(GET|HEAD|POST)$/.test(http.method)) throw notAllowed(http.method, ['GET', 'HEAD', 'POST'])
    await rateLimits.consume(http, 'public', clientNetwork(http))
    const { token } = http.query
    const userId = typeof token === 'string' ? unsubscribing.readToken(token) : undefined
    if (userId === undefined) return page(http, 400, html`<p class="problem">This link is not valid.</p>`)
    if (http.method !== 'POST') {
      const body = html`<p>No more mails about your notifications?</p>
<form method="post"><button>Unsubscribe</button></form>`
      return page(http, 200, body)
    }
    await unsubscribing.unsubscribe(userId)
    page(
      http,
      200,
      html`<p>Done. You get no more mails about your notifications; at Wheelhouse they are kept.</p>`,
    )
  }
}

const page = (http: Context, status: number, body: ReturnType<typeof html>) =>
  sendPage(http, { status, title: 'Mails about notifications', body })
