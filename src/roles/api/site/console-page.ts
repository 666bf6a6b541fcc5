import { createReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Context, Middleware } from 'koa'
import { notAllowed, notFound } from '../../../core/errors/errors.ts'
import { type Html, sendPage, template } from '../../../core/http/html-page.ts'
import {
  hasSessionCookie,
  organizationFormTargets,
  organizationSignInForm,
} from '../../../modules/identity/index.ts'

const HOME = '/dashboard'
const ASSETS = `${HOME}/assets/`
const PUSH_WORKER = 'push-worker.js'
const DIST_FOLDER = fileURLToPath(new URL('../../../../packages/console/dist', import.meta.url))

/**
 * Scripts come from this origin, and inline scripts are forbidden. Components set style attributes. Images, video and
 * sockets may use any host: robots provide the address of their video, and gateways have separate addresses.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob: http: https:",
  "media-src 'self' blob: http: https:",
  "connect-src 'self' http: https: ws: wss:",
  "font-src 'self'",
  "worker-src 'self' blob:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

const notBuiltTemplate =
  template(`<p>Build it with <b>npm run build:console</b>, then load this page again. <b>npm start</b> builds it
by itself.</p><p>The <a href="/api/docs">REST API</a> works without it.</p>`)

const signInTemplate = template<{ signInUrl: string; form: Html }>(
  `<p class="lead">Drive robots remotely, or have yours driven.</p>
<p><a class="button primary big" href="<%= it.signInUrl %>">Sign in</a></p>
<%= it.form %>
<p class="dimmed"><a href="/">About Wheelhouse</a> · <a href="/docs">Guides</a></p>`,
)

/**
 * Serves the console under `/dashboard` and every path below it. The router of the console selects the page. A browser
 * without a session gets a page with a link to the sign-in, which needs no script and arrives in one packet exchange.
 */
export function consolePage({
  baseUrl,
  folder = DIST_FOLDER,
}: {
  baseUrl: string
  folder?: string
}): Middleware {
  return async (http, next) => {
    if (http.path !== HOME && !http.path.startsWith(`${HOME}/`)) return await next()
    if (http.method !== 'GET' && http.method !== 'HEAD') throw notAllowed(http.method, ['GET', 'HEAD'])
    if (http.path === `${HOME}/${PUSH_WORKER}`) await sendPushWorker(http, folder)
    else if (http.path.startsWith(ASSETS)) await sendAsset(http, folder, http.path.slice(ASSETS.length))
    else await sendIndex(http, { folder, signedIn: hasSessionCookie(http, baseUrl), baseUrl })
  }
}

/**
 * Serves the page of links to recordings at `/replay/<token>`, to everyone: the API decides whether the link is valid. The address
 * is a secret, so that it appears neither in the requests of the page nor in an index.
 */
export const sharedReplayPage =
  ({ folder = DIST_FOLDER }: { folder?: string } = {}): Middleware =>
  async (http, next) => {
    if (!/^\/replay\/[\w-]+$/.test(http.path)) return await next()
    if (http.method !== 'GET' && http.method !== 'HEAD') throw notAllowed(http.method, ['GET', 'HEAD'])
    const page = await readFile(join(folder, 'replay.html'), 'utf8').catch(ignoreMissing)
    if (page === undefined) return sendNotBuilt(http)
    http.set('Content-Security-Policy', POLICY)
    http.set('Referrer-Policy', 'no-referrer')
    http.set('X-Robots-Tag', 'noindex')
    http.type = 'html'
    http.body = page
  }

const sendNotBuilt = (http: Context): void =>
  sendPage(http, { status: 503, title: 'The console is not built', body: notBuiltTemplate({}) })

/**
 * Sends the index page, or the sign-in page. Caches must not store the index page, because it refers to the assets of
 * the newest build.
 */
async function sendIndex(
  http: Context,
  { folder, signedIn, baseUrl }: { folder: string; signedIn: boolean; baseUrl: string },
): Promise<void> {
  const page = await readFile(join(folder, 'index.html'), 'utf8').catch(ignoreMissing)
  if (page === undefined) return sendNotBuilt(http)
  if (!signedIn) {
    const signInUrl = `/auth/login?${new URLSearchParams({ return_to: http.url })}`
    return sendPage(http, {
      status: 200,
      title: 'Sign in to continue',
      formTargets: organizationFormTargets(baseUrl),
      body: signInTemplate({ signInUrl, form: organizationSignInForm(http.url) }),
    })
  }
  http.set('Content-Security-Policy', POLICY)
  http.type = 'html'
  http.body = page
}

/**
 * Sends the service worker of the console. Its address stays the same, so browsers ask for a newer one each time, and it may serve
 * `/dashboard` itself, too.
 */
async function sendPushWorker(http: Context, folder: string): Promise<void> {
  const script = await readFile(join(folder, PUSH_WORKER), 'utf8').catch(ignoreMissing)
  if (script === undefined) throw notFound('File')
  http.set('Content-Security-Policy', POLICY)
  http.set('Service-Worker-Allowed', HOME)
  http.set('Cache-Control', 'no-cache')
  http.type = '.js'
  http.body = script
}

/** Sends an asset. Its name contains a hash of its content, so caches may store it permanently. */
async function sendAsset(http: Context, folder: string, name: string): Promise<void> {
  const file = /^\w[\w.-]*$/.test(name) ? join(folder, 'assets', name) : undefined
  const plain = file && (await stat(file).catch(ignoreMissing))
  if (!plain) throw notFound('File')
  http.vary('Accept-Encoding')
  // A worker script has a separate policy, which its response sets.
  http.set('Content-Security-Policy', POLICY)
  http.set('Cache-Control', 'public, max-age=31536000, immutable')
  http.type = extname(name)
  const encoded = await smallestEncoding(http, file as string)
  if (encoded.encoding) http.set('Content-Encoding', encoded.encoding)
  http.length = encoded.size ?? plain.size
  if (http.method === 'GET') http.body = createReadStream(encoded.path)
  else http.status = 200
}

/**
 * Returns the smallest encoding that the client accepts. The build adds a Brotli and a gzip version to files that
 * compress well.
 */
async function smallestEncoding(http: Context, file: string) {
  for (const [encoding, ending] of [
    ['br', '.br'],
    ['gzip', '.gz'],
  ] as const) {
    if (http.acceptsEncodings(encoding, 'identity') !== encoding) continue
    const found = await stat(file + ending).catch(ignoreMissing)
    if (found) return { path: file + ending, encoding, size: found.size }
  }
  return { path: file }
}

function ignoreMissing(cause: NodeJS.ErrnoException): undefined {
  if (cause.code !== 'ENOENT') throw cause
}
