import type { Context, Middleware } from 'koa'
import { notAllowed } from '../../core/errors/errors.ts'
import { clientNetwork } from '../../core/http/client-address.ts'
import { type Html, problemText, sendPage, template } from '../../core/http/html-page.ts'
import type { RateLimits } from '../../core/http/rate-limits.ts'
import type { Unsubscribing } from './unsubscribe.ts'

const questionTemplate = template(`<p>Stop mails about your notifications?</p>
<form method="post"><button>Unsubscribe</button></form>`)
const doneTemplate = template(
  '<p>You will not receive mails about notifications any more. Wheelhouse still lists your notifications.</p>',
)
const INVALID = 'This link is not valid. Use the link in the mail unchanged.'

/**
 * Serves `/unsubscribe`, the link in every mail about notifications. Only POST changes a preference: a mail program
 * sends it with one click (RFC 8058), or the button on the page does. Link scanners send GET and must not unsubscribe
 * the recipient. The token is the only authority; the page ignores cookies and the body.
 */
export function unsubscribePage(deps: { unsubscribing: Unsubscribing; rateLimits: RateLimits }): Middleware {
  const { unsubscribing, rateLimits } = deps
  return async (http, next) => {
    if (http.path !== '/unsubscribe') return await next()
    if (!/^(GET|HEAD|POST)$/.test(http.method)) throw notAllowed(http.method, ['GET', 'HEAD', 'POST'])
    await rateLimits.consume(http, 'public', clientNetwork(http))
    const { token } = http.query
    const userId = typeof token === 'string' ? unsubscribing.readToken(token) : undefined
    if (userId === undefined) return page(http, 400, problemText({ text: INVALID }))
    if (http.method !== 'POST') return page(http, 200, questionTemplate({}))
    await unsubscribing.unsubscribe(userId)
    page(http, 200, doneTemplate({}))
  }
}

const page = (http: Context, status: number, body: Html) =>
  sendPage(http, { status, title: 'Mails about notifications', body })
