import { createHash } from 'node:crypto'
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

/** Escaped HTML. Only `html` creates it, so plain text is never used as markup. */
export interface Html {
  readonly markup: string
}

/** Builds HTML, as a template tag. Escapes every inserted value unless it is `Html`. */
export function html(texts: TemplateStringsArray, ...values: (string | Html | readonly Html[])[]): Html {
  const inserted = values.map((value) => {
    if (typeof value === 'string') return escapeHtml(value)
    return 'markup' in value ? value.markup : value.map((part) => part.markup).join('')
  })
  return { markup: texts.map((text, index) => text + (inserted[index] ?? '')).join('') }
}

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
  http.body = html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${page.title}</title>
<style>${{ markup: STYLE }}</style></head>
<body><main><h1>${page.title}</h1>
${page.body}
</main></body></html>
`.markup
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
      const body = html`<p class="problem">${error.message}</p>
<p><a href="/auth/login">Sign in again</a></p>`
      sendPage(http, { status: error.status, title: 'Sign-in failed', body })
    }
  }
}

function escapeHtml(text: string): string {
  const entities: Record<string, string> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  }
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '')
}
