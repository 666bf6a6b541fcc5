import { createHash } from 'node:crypto'
import { Eta } from 'eta'
import type { Context, Middleware } from 'koa'
import { toAppError } from '../errors/errors.ts'
import { SITE_STYLE } from './site-style.ts'
import { FONT_ADDRESS, siteTheme } from './site-theme.ts'

const STYLE_HASH = createHash('sha256').update(SITE_STYLE).digest('base64')

/** The mark: a ship's wheel in the colour of the page. A test compares it with the icon of the console. */
const WHEEL =
  '<circle cx="16" cy="16" r="9" fill="none" stroke-width="2.5"/><circle cx="16" cy="16" r="3.5" stroke="none"/>' +
  '<path stroke-width="2.5" stroke-linecap="round" d="M16 1.75v28.5M1.75 16h28.5M22.36 9.64l3.72-3.72M9.64 9.64L5.92 5.92' +
  'M9.64 22.36l-3.72 3.72M22.36 22.36l3.72 3.72"/>'
const { primary } = siteTheme.dark
const ICON = `data:image/svg+xml,${encodeURIComponent(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" fill="${primary}" stroke="${primary}">${WHEEL}</svg>`,
)}`

/**
 * HTML that a template rendered. Only `template` and the renderer of the documents in this repository create it, so plain
 * text is never used as markup.
 */
export class Html {
  readonly #markup: string
  constructor(markup: string) {
    this.#markup = markup
  }
  toString(): string {
    return this.#markup
  }
}

const eta = new Eta({ autoTrim: false })
const escapeText = eta.config.escapeFunction
eta.config.escapeFunction = (value) => {
  if (Array.isArray(value)) return value.map((part) => eta.config.escapeFunction(part)).join('')
  return value instanceof Html ? value.toString() : escapeText(value ?? '')
}

/**
 * Compiles a template of Eta, once. `<%= it.name %>` inserts a value of the data: escaped, unless a template rendered it.
 * The source must be a constant.
 */
export function template<Data extends object = Record<never, never>>(source: string): (data: Data) => Html {
  const render = eta.compile(source)
  return (data) => new Html(render.call(eta, data))
}

interface Page {
  readonly title: string
  /** The language of the page, English by default. */
  readonly language?: 'en' | 'de'
  readonly body: Html
  /** Whether the page uses the width of the window and shows the navigation. Otherwise it is a narrow column. */
  readonly wide?: boolean
  /** Whether the body contains the title as its heading. */
  readonly titled?: boolean
  /** The last link of the navigation. Default: it opens the console. */
  readonly entrance?: { readonly label: string; readonly url: string }
  readonly footer?: Html
}

/** Renders the header of a page, with the navigation if it is wide. */
export const renderHeader = template<
  Pick<Page, 'wide' | 'entrance'>
>(`<header class="top"><a class="brand" href="/">
<svg class="mark" width="26" height="26" viewBox="0 0 32 32" aria-hidden="true">${WHEEL}</svg>Wheelhouse</a>
<% if (it.wide) { %><nav aria-label="Main"><a href="/docs">Guides</a><a class="more" href="/api/docs">API</a>
<a class="more" href="/downloads">Downloads</a><a href="<%= it.entrance?.url ?? '/dashboard' %>"><%= it.entrance?.label ?? 'Open console' %></a></nav>
<% } %></header>`)

const pageTemplate = template<Page & { header: Html }>(`<!doctype html>
<html lang="<%= it.language ?? 'en' %>">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title><%= it.title %></title>
<link rel="icon" type="image/svg+xml" href="${ICON}">
<link rel="preload" href="${FONT_ADDRESS}" as="font" type="font/woff2" crossorigin>
<style>${SITE_STYLE}</style></head>
<body<% if (it.wide) { %> class="wide"<% } %>><%= it.header %>
<main><% if (!it.titled) { %><h1><%= it.title %></h1>
<% } %><%= it.body %>
</main><%= it.footer %></body></html>
`)

/** Renders a page that runs no script and loads only images and the font of this origin. */
export const renderPage = (page: Page): string =>
  pageTemplate({ ...page, header: renderHeader(page) }).toString()

/**
 * Returns the content security policy of such a page. A submitted form may redirect to the origins in `formTargets` and
 * to the public origin: browsers apply `form-action` to every redirect after the submission.
 */
export const pagePolicy = (formTargets: readonly string[] = []): string =>
  [
    "default-src 'none'",
    `style-src 'sha256-${STYLE_HASH}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    `form-action ${["'self'", ...formTargets].join(' ')}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

/** Renders a paragraph that says what went wrong. */
export const problemText = template<{ text: string | undefined }>('<p class="problem"><%= it.text %></p>')

const signInProblem = template<{ problem: Html; url: string }>(`<%= it.problem %>
<p><a class="button primary" href="<%= it.url %>">Sign in again</a></p>`)

/** Sends a page that runs no script. */
export function sendPage(
  http: Context,
  page: Page & { status: number; formTargets?: readonly string[] },
): void {
  http.status = page.status
  http.type = 'html'
  http.set('Content-Security-Policy', pagePolicy(page.formTargets))
  http.body = renderPage(page)
}

/** Shows errors of inner middleware as a page to browsers, with a link to `signInUrl` of the state. Other clients get the usual JSON. */
export function problemPages(report: (cause: unknown) => void): Middleware {
  return async (http, next) => {
    try {
      await next()
    } catch (cause) {
      if (http.accepts('json', 'html') !== 'html') throw cause
      const error = toAppError(cause)
      if (error.status >= 500) report(cause)
      http.set(error.headers)
      const url = String(http.state.signInUrl ?? '/auth/login')
      const body = signInProblem({ problem: problemText({ text: error.message }), url })
      sendPage(http, { status: error.status, title: 'Sign-in failed', body })
    }
  }
}
