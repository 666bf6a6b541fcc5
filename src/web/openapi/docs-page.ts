import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Context, Middleware } from 'koa'
import { notAllowed } from '../../core/errors/errors.ts'
import { template } from '../../core/http/html-page.ts'

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
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

const PAGE = template<{ home: string }>(`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Wheelhouse API</title>
<link rel="icon" type="image/png" href="<%= it.home %>/favicon-32x32.png">
<link rel="stylesheet" href="<%= it.home %>/swagger-ui.css"></head>
<body><div id="swagger-ui"></div>
<script src="<%= it.home %>/swagger-ui-bundle.js"></script>
<script src="<%= it.home %>/init.js"></script></body></html>
`)({ home: HOME }).toString()

// No validator: it would send the description to another host.
const INIT = `SwaggerUIBundle({
  url: '/api/openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  validatorUrl: null,
})
`

/** Serves `/api/docs`: the description as a page to read and try out. It loads nothing from other hosts. */
export function docsPage(): Middleware {
  const { resolve } = createRequire(import.meta.url)
  const handlers = new Map<string, (http: Context) => Promise<void> | void>([
    [HOME, sendDocsPage],
    [`${HOME}/init.js`, (http) => send(http, 'text/javascript; charset=utf-8', INIT)],
    ...Object.entries(files).map(([name, type]) => {
      const file = resolve(`swagger-ui-dist/${name}`)
      return [`${HOME}/${name}`, (http: Context) => sendFile(http, file, type)] as const
    }),
  ])
  return async (http, next) => {
    const handler = handlers.get(http.path)
    if (!handler) return await next()
    if (http.method !== 'GET' && http.method !== 'HEAD') {
      throw notAllowed(http.method, ['GET', 'HEAD'])
    }
    http.set('Cache-Control', 'no-cache') // caches must revalidate, and get 304 while it is unchanged
    await handler(http)
  }
}

function sendDocsPage(http: Context): void {
  http.set('Content-Security-Policy', POLICY)
  send(http, 'text/html; charset=utf-8', PAGE)
}

function send(http: Context, type: string, body: string): void {
  http.type = type
  http.body = body
}

async function sendFile(http: Context, file: string, type: string): Promise<void> {
  const { mtimeMs, size } = await stat(file)
  http.status = 200
  http.etag = `${size}-${Math.round(mtimeMs)}`
  if (http.fresh) {
    http.status = 304
    return
  }
  http.type = type
  http.length = size
  if (http.method === 'GET') http.body = createReadStream(file)
}
