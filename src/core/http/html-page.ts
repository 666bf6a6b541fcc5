import { createHash } from 'node:crypto'
import { Eta } from 'eta'
import type { Context, Middleware } from 'koa'
import { toAppError } from '../errors/errors.ts'

const STYLE = `
:root{color-scheme:light dark;font-family:system-ui,sans-serif;line-height:1.5}
body{max-width:26rem;margin:4rem auto;padding:0 1rem}
h1{font-size:1.4rem}
button,input{font:inherit;width:100%;box-sizing:border-box;padding:.6rem .8rem;margin:.25rem 0;border-radius:.4rem;border:1px solid #8886}
button{cursor:pointer;text-align:left}
small{opacity:.75}
h2{font-size:1.1rem}
code,pre{overflow-wrap:anywhere}
pre{white-space:pre-wrap;padding:.6rem .8rem;border-radius:.4rem;background:#8882}
.problem{border-left:.3rem solid #c33;padding-left:.8rem}
`
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')

/** HTML that a template rendered. Only `template` creates it, so plain text is never used as markup. */
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

const pageTemplate = template<{ title: string; body: Html }>(`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title><%= it.title %></title>
<style>${STYLE}</style></head>
<body><main><h1><%= it.title %></h1>
<%= it.body %>
</main></body></html>
`)

/** Renders a paragraph that says what went wrong. */
export const problemText = template<{ text: string | undefined }>('<p class="problem"><%= it.text %></p>')

const signInProblem = template<{ problem: Html }>(`<%= it.problem %>
<p><a href="/auth/login">Sign in again</a></p>`)

/**
 * Sends a small page that runs no script and loads no resources. A submitted form may redirect to the origins in
 * `formTargets` and to the public origin: browsers apply `form-action` to every redirect after the submission.
 */
export function sendPage(
  http: Context,
  page: { status: number; title: string; body: Html; formTargets?: readonly string[] },
): void {
  http.status = page.status
  http.type = 'html'
  http.set(
    'Content-Security-Policy',
    [
      "default-src 'none'",
      `style-src 'sha256-${STYLE_HASH}'`,
      `form-action ${["'self'", ...(page.formTargets ?? [])].join(' ')}`,
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
  )
  http.body = pageTemplate(page).toString()
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
