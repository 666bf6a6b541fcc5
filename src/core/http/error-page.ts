import type { Context } from 'koa'
import type { AppError } from '../errors/errors.ts'
import { sendPage, template } from './html-page.ts'

/** The texts of error pages in English. They type the other languages, so a missing or surplus text does not compile. */
const en = {
  titles: {
    401: 'Sign in first',
    403: 'Not allowed',
    404: 'Page not found',
    405: 'Method not allowed',
    429: 'Too many requests',
    503: 'Temporarily unavailable',
  } as Readonly<Record<number, string>>,
  failed: 'The request failed',
  wentWrong: 'Something went wrong',
  noPage: (path: string): string => `There is no page at ${path}.`,
  tryAgain: 'Try again',
  openConsole: 'Open console',
  frontPage: 'Front page',
  guides: 'Guides',
  request: 'Request',
}

const de: typeof en = {
  titles: {
    401: 'Bitte melden Sie sich an',
    403: 'Nicht erlaubt',
    404: 'Seite nicht gefunden',
    405: 'Methode nicht erlaubt',
    429: 'Zu viele Anfragen',
    503: 'Vorübergehend nicht verfügbar',
  },
  failed: 'Die Anfrage ist fehlgeschlagen',
  wentWrong: 'Es ist ein Fehler aufgetreten',
  noPage: (path) => `Unter ${path} gibt es keine Seite.`,
  tryAgain: 'Erneut versuchen',
  openConsole: 'Konsole öffnen',
  frontPage: 'Startseite',
  guides: 'Anleitungen',
  request: 'Anfrage',
}

/** The texts of error pages by language. */
const errorPageTexts = { en, de }

/** A language of error pages, as an ISO 639 code. */
type ErrorPageLanguage = keyof typeof errorPageTexts

/** Errors that the same request may not have a moment later. */
const TEMPORARY = new Set([408, 429, 500, 502, 503, 504])

interface ErrorView {
  readonly text: string
  /** The language of `text`, if the page has another one. */
  readonly textLanguage: ErrorPageLanguage | undefined
  readonly texts: (typeof errorPageTexts)[ErrorPageLanguage]
  readonly path: string
  readonly temporary: boolean
  readonly requestId: string
}

const errorTemplate = template<ErrorView>(
  `<p class="lead"<% if (it.textLanguage) { %> lang="<%= it.textLanguage %>"<% } %>><%= it.text %></p>
<p class="actions"><% if (it.temporary) { %><a class="button primary" href="<%= it.path %>"><%= it.texts.tryAgain %></a><% } else { %>
<a class="button primary" href="/dashboard"><%= it.texts.openConsole %></a><% } %>
<a class="button" href="/"><%= it.texts.frontPage %></a> <a class="button" href="/docs"><%= it.texts.guides %></a></p>
<p><small><%= it.texts.request %> <code><%= it.requestId %></code></small></p>`,
)

/** Returns the first language of `Accept-Language` that has texts, otherwise English. */
function pageLanguage(http: Context): ErrorPageLanguage {
  http.vary('Accept-Language')
  return http.acceptsLanguages('en', 'de') === 'de' ? 'de' : 'en'
}

/** Returns the address of a request as a link. Browsers would take a second slash or backslash for the start of another host. */
export const onThisSite = (url: string): string => url.replace(/^[/\\]+/, '/')

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
  const language = pageLanguage(http)
  const texts = errorPageTexts[language]
  const missing = error.code === 'route_not_found'
  sendPage(http, {
    status,
    language,
    title: texts.titles[status] ?? (status >= 500 ? texts.wentWrong : texts.failed),
    body: errorTemplate({
      text: missing ? texts.noPage(http.path) : error.message,
      textLanguage: missing || language === 'en' ? undefined : 'en',
      texts,
      path: onThisSite(http.url),
      temporary: TEMPORARY.has(status),
      requestId: String(http.state.requestId),
    }),
  })
}
