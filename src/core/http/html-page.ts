import { createHash } from 'node:crypto'
import { Eta } from 'eta'
import type { Context, Middleware } from 'koa'
import { toAppError } from '../errors/errors.ts'
import { SITE_STYLE } from './site-style.ts'

const STYLE_HASH = createHash('sha256').update(SITE_STYLE).digest('base64')

/** The mark of the console, as an outline that takes its colour from the page. */
const MARK =
  '<g fill="none" stroke-width="3" stroke-linecap="round"><circle cx="16" cy="16" r="10"/>' +
  '<circle cx="16" cy="16" r="3"/><path d="M16 1.5v11.5M16 19v11.5M1.5 16h11.5M19 16h11.5"/></g>'
const ICON = `data:image/svg+xml,${encodeURIComponent(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" stroke="#1c7ed6">${MARK}</svg>`,
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
}

/** Renders the header of a page, with the navigation if it is wide. */
export const renderHeader = template<{ wide: boolean }>(`<header class="top"><a class="brand" href="/">
<svg width="24" height="24" viewBox="0 0 32 32" aria-hidden="true">${MARK}</svg>Wheelhouse</a>
<% if (it.wide) { %><a href="/docs">Guides</a><a href="/api/docs">API reference</a><a href="/downloads">Downloads</a>
<a href="/dashboard">Console</a><% } %></header>`)

const pageTemplate = template<Page & { header: Html }>(`<!doctype html>
<html lang="<%= it.language ?? 'en' %>">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title><%= it.title %></title>
<link rel="icon" type="image/svg+xml" href="${ICON}">
<style>${SITE_STYLE}</style></head>
<body<% if (it.wide) { %> class="wide"<% } %>><%= it.header %>
<main><% if (!it.titled) { %><h1><%= it.title %></h1>
<% } %><%= it.body %>
</main></body></html>
`)

/** Renders a page that runs no script and loads only images of this origin. */
export const renderPage = (page: Page): string =>
  pageTemplate({ ...page, header: renderHeader({ wide: page.wide ?? false }) }).toString()

/**
 * Returns the content security policy of such a page. A submitted form may redirect to the origins in `formTargets` and
 * to the public origin: browsers apply `form-action` to every redirect after the submission.
 */
export const pagePolicy = (formTargets: readonly string[] = []): string =>
  [
    "default-src 'none'",
    `style-src 'sha256-${STYLE_HASH}'`,
    "img-src 'self' data:",
    `form-action ${["'self'", ...formTargets].join(' ')}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

/** Renders a paragraph that says what went wrong. */
export const problemText = template<{ text: string | undefined }>('<p class="problem"><%= it.text %></p>')

const signInProblem = template<{ problem: Html }>(`<%= it.problem %>
<p><a href="/auth/login">Sign in again</a></p>`)

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

/** Shows errors of inner middleware as a page to browsers. Other clients get the usual JSON. */
export function problemPages(report: (cause: unknown) => void): Middleware {
  return async (http, next) => {
    try {
      await next()
    } catch (cause) {
      if (http.accepts('json', 'html') !== 'html') throw cause
      const error = toAppError(cause)
      if (error.status >= 500) report(cause)
      http.set(error.headers)
      const body = signInProblem({ problem: problemText({ text: error.message }) })
      sendPage(http, { status: error.status, title: 'Sign-in failed', body })
    }
  }
}
