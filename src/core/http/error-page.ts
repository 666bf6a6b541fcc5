import type { Context } from 'koa'
import type { AppError } from '../errors/errors.ts'
import { sendPage, template } from './html-page.ts'

const titles: Readonly<Record<number, string>> = {
  401: 'Sign in first',
  403: 'Not allowed',
  404: 'Page not found',
  405: 'Method not allowed',
  429: 'Too many requests',
  503: 'Temporarily unavailable',
}

/** Errors that the same request may not have a moment later. */
const TEMPORARY = new Set([408, 429, 500, 502, 503, 504])

const errorTemplate = template<{ text: string; path: string; temporary: boolean; requestId: string }>(
  `<p class="lead"><%= it.text %></p>
<p class="actions"><% if (it.temporary) { %><a class="button primary" href="<%= it.path %>">Try again</a><% } else { %>
<a class="button primary" href="/dashboard">Open console</a><% } %>
<a class="button" href="/">Front page</a> <a class="button" href="/docs">Guides</a></p>
<p><small>Request <code><%= it.requestId %></code></small></p>`,
)

/** Sends an error to a browser as a page, and to a program as JSON. */
export function sendError(http: Context, error: AppError): void {
  http.status = error.status
  http.set({ ...error.headers })
  http.vary('Accept')
  if (http.accepts('json', 'html') !== 'html') {
    http.body = { error: error.message }
    return
  }
  const { status } = error
  sendPage(http, {
    status,
    title: titles[status] ?? (status >= 500 ? 'Something went wrong' : 'The request failed'),
    body: errorTemplate({
      text: error.code === 'route_not_found' ? `There is no page at ${http.path}.` : error.message,
      path: http.url,
      temporary: TEMPORARY.has(status),
      requestId: String(http.state.requestId),
    }),
  })
}
