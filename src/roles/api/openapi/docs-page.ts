import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Middleware } from 'koa'
import { notAllowed } from '../../../core/errors/errors.ts'
import { renderHeader, template } from '../../../core/http/html-page.ts'
import { HEADER_STYLE } from '../../../core/http/site-style.ts'
import { createStaticContent } from '../../../core/http/static-content.ts'

const HOME = '/api/docs'
/** The files of Swagger UI (Apache-2.0) that the page needs. Other files of the package are not served. */
const files = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui-bundle.js.LICENSE.txt': 'text/plain; charset=utf-8',
  'favicon-32x32.png': 'image/png',
} as const

/** Swagger UI sets style attributes. Everything else must come from this origin. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The colours of the console. Swagger UI has a dark scheme, which a class of the document selects. */
const STYLE = `${HEADER_STYLE}
html,html.dark-mode,html.dark-mode body{background:var(--background)}
.swagger-ui,.swagger-ui :is(h1,h2,h3,h4,h5,p,li,label,select,input,td,th,button,small,.btn,.link,.title,.opblock-tag,.opblock-summary-method,.opblock-summary-description,.renderedMarkdown){font-family:var(--font)!important}
.swagger-ui,html.dark-mode .swagger-ui,.swagger-ui .scheme-container,html.dark-mode .swagger-ui .scheme-container{background:var(--background);box-shadow:none}
.swagger-ui .wrapper{max-width:calc(72.5rem + 40px)}
.swagger-ui .topbar{display:none}`

const PAGE = template<{ home: string; header: ReturnType<typeof renderHeader> }>(`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>Wheelhouse API</title>
<link rel="icon" type="image/png" href="<%= it.home %>/favicon-32x32.png">
<link rel="stylesheet" href="<%= it.home %>/swagger-ui.css">
<style>${STYLE}</style></head>
<body><%= it.header %><div id="swagger-ui"></div>
<script src="<%= it.home %>/swagger-ui-bundle.js"></script>
<script src="<%= it.home %>/init.js"></script></body></html>
`)({ home: HOME, header: renderHeader({ wide: true }) }).toString()

// No validator: it would send the description to another host.
const INIT = `SwaggerUIBundle({
  url: '/api/openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  validatorUrl: null,
})
const dark = matchMedia('(prefers-color-scheme: dark)')
const followScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', followScheme)
followScheme()
`

/** Serves `/api/docs`: the description as a page to read and try out. It loads nothing from other hosts. */
export function docsPage(): Middleware {
  const { resolve } = createRequire(import.meta.url)
  const contents = new Map([
    [HOME, createStaticContent({ type: 'text/html; charset=utf-8', load: () => PAGE })],
    [`${HOME}/init.js`, createStaticContent({ type: 'text/javascript; charset=utf-8', load: () => INIT })],
    ...Object.entries(files).map(([name, type]) => {
      const load = () => readFile(resolve(`swagger-ui-dist/${name}`))
      const content = createStaticContent({ type, load, compress: type !== 'image/png' })
      return [`${HOME}/${name}`, content] as const
    }),
  ])
  return async (http, next) => {
    const content = contents.get(http.path)
    if (!content) return await next()
    if (http.method !== 'GET' && http.method !== 'HEAD') {
      throw notAllowed(http.method, ['GET', 'HEAD'])
    }
    if (http.path === HOME) http.set('Content-Security-Policy', POLICY)
    await content.send(http)
  }
}
