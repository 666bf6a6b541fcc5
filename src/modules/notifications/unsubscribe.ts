import type { Context, Middleware } from 'koa'
import { sql } from 'kysely'
import type { Db } from '../../core/database/tables.ts'
import { notAllowed } from '../../core/errors/errors.ts'
import { clientNetwork } from '../../core/http/client-address.ts'
import { type Html, problemText, sendPage, template } from '../../core/http/html-page.ts'
import type { RateLimits } from '../../core/http/rate-limits.ts'
import type { Secrets } from '../../core/secrets.ts'
import { wantsMail } from './preferences.ts'

const PURPOSE = 'unsubscribe'
const TOKEN = /^([0-9a-f-]{36})\.([\w-]{43})$/

/**
 * Creates and verifies links that turn off mails about notifications. A link has no other effect. Links do not expire:
 * the link in an old mail must still work.
 */
export function createUnsubscribing(deps: { db: Db; secrets: Secrets; baseUrl: string }) {
  const { db, secrets, baseUrl } = deps
  return {
    urlFor: (userId: string): string =>
      `${baseUrl}/unsubscribe?token=${userId}.${secrets.sign(PURPOSE, userId)}`,

    /** Returns the user of a link's token, or undefined if the signature is not valid. */
    readToken(token: string): string | undefined {
      const [, userId = '', signature = ''] = TOKEN.exec(token) ?? []
      return secrets.verify(PURPOSE, userId, signature) ? userId : undefined
    },

    /** Turns mails off. A repeated call has no effect. */
    async unsubscribe(userId: string): Promise<void> {
      await db
        .updateTable('users')
        .set({ notification_preferences: sql`notification_preferences || '{"email": false}'::jsonb` })
        .where('id', '=', userId)
        .where(wantsMail)
        .execute()
    },
  }
}
export type Unsubscribing = ReturnType<typeof createUnsubscribing>

const questionTemplate = template(`<p>Stop mails about your notifications?</p>
<form method="post"><button class="primary">Unsubscribe</button></form>`)
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
