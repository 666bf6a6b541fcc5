import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import cors from '@koa/cors'
import { ERROR_CODE_HEADER } from '@wheelhouse/protocol'
import Koa, { type Context, type Middleware } from 'koa'
import helmet from 'koa-helmet'
import {
  AppError,
  badRequest,
  diskFull,
  isDatabaseUnreachable,
  notAllowed,
  routeNotFound,
  toAppError,
} from '../errors/errors.ts'
import type { Log } from '../log.ts'
import type { ThreadTime } from '../process/thread-time.ts'
import { compression } from './compression.ts'
import {
  type Authenticate,
  type Caller,
  type Endpoint,
  type HandlerWrapper,
  type Interceptor,
  mount,
} from './endpoint.ts'
import { sendError } from './error-page.ts'
import { readBody } from './json-body.ts'
import { requireThreadTime } from './request-authorization.ts'
import { validateResponses } from './response-validation.ts'

/** Larger bodies are counted as processor time before they are read. No stop is larger. */
const SMALL_BODY_BYTES = 4 * 1024
/** Reading, checking and parsing a quarter of a megabyte of JSON with many small entries takes 5 ms. */
const BODY_BYTES_PER_MS = 50_000
/** A longer body is not parsed: it is refused, or stored. */
const MAX_PARSED_BYTES = 256 * 1024

export interface AppOptions {
  readonly log: Log
  readonly corsOrigins: readonly string[]
  /** How many proxies in front of the platform append to X-Forwarded-For. 0 means that the header is ignored. */
  readonly trustedProxies: number
  /** Whether the public origin is https. */
  readonly https: boolean
  readonly endpoints: readonly Endpoint[]
  readonly authenticate: Authenticate
  readonly interceptor?: Interceptor
  /** Returns whether the disk of the database is full. */
  readonly diskIsFull?: () => boolean
  /** Measures the steps of requests. */
  readonly threadTime?: ThreadTime
  /** Returns the user of a request without the database, if this process knows the credential. */
  readonly rememberedCaller?: (http: Context) => Pick<Caller, 'userId'> | undefined
  /** Wraps the handling of every route. */
  readonly wrap?: HandlerWrapper
  /** Called once for every response. */
  readonly observe?: (done: { method: string; route: string; status: number; ms: number }) => void
  /** Middleware that runs before the routes: the login pages and the built-in identity provider. */
  readonly before: readonly Middleware[]
  /** Whether every response is validated against its declaration. Validation takes time, so only tests enable it. */
  readonly validateResponses?: boolean
}

/** Creates the HTTP application. Call `callback()` of the result once. */
export function createApp(options: AppOptions): Koa {
  const app = new Koa({ proxy: options.trustedProxies > 0, maxIpsCount: options.trustedProxies })
  app.silent = true // `handleErrors` responds to every error and logs it
  app.use(compression())
  app.use(requestId)
  app.use(handleErrors(options))
  app.use(helmet(options.https ? {} : plainHttp))
  app.use(cors({ ...crossOrigin, origin: allowedOrigin(options.corsOrigins) }))
  app.use(requireReadableRequest)
  app.use(limitLargeBodies(options))
  for (const middleware of options.before) app.use(middleware)
  app.use(textEndpoints(options.endpoints))
  app.use(deletionBodies(options.endpoints))
  app.use(readBody)
  const router = mount(options.endpoints, {
    authenticate: options.authenticate,
    threadTime: options.threadTime,
    ...(options.interceptor && { interceptor: options.interceptor }),
    wrappers: [
      ...(options.validateResponses ? [validateResponses] : []),
      ...(options.wrap ? [options.wrap] : []),
    ],
  })
  app.use(router.routes())
  app.use(methodNotAllowed(options.endpoints))
  return app
}

/** The CORS settings for pages of the allowed origins. */
const crossOrigin = {
  credentials: true,
  keepHeadersOnError: true,
  allowMethods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
  allowHeaders: [
    'Authorization',
    'Content-Type',
    'Idempotency-Key',
    'Wheelhouse-Organization',
    'X-Request-Id',
    'If-Match',
    'If-None-Match',
    'If-Range',
    'Range',
    'Mcp-Protocol-Version',
    'Mcp-Session-Id',
    'Mcp-Method',
    'Mcp-Name',
    'Last-Event-ID', // MCP clients in a page
  ],
  exposeHeaders: [
    'X-Request-Id',
    'Idempotent-Replayed',
    'RateLimit',
    'RateLimit-Policy',
    'Retry-After',
    'WWW-Authenticate',
    'X-Total-Count',
    'X-Next-Cursor',
    'Location',
    'Link',
    'ETag',
    'Accept-Ranges',
    'Content-Range',
    'Content-Disposition',
    ERROR_CODE_HEADER,
  ],
  maxAge: 600,
}

/** The helmet settings over plain HTTP. A browser must not upgrade requests there, because no TLS server exists. */
const plainHttp = {
  strictTransportSecurity: false,
  contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } },
} as const

const requestId: Middleware = async (ctx, next) => {
  const given = ctx.get('X-Request-Id')
  ctx.state.requestId = /^[\w.-]{8,64}$/.test(given) ? given : randomUUID()
  ctx.set('X-Request-Id', ctx.state.requestId)
  await next()
}

/** Rejects a path that cannot be decoded, and JSON in a charset other than UTF-8. */
const requireReadableRequest: Middleware = async (ctx, next) => {
  if (ctx.path.includes('%')) {
    try {
      decodeURIComponent(ctx.path)
    } catch {
      throw badRequest('The path is not valid percent-encoded UTF-8. Encode it again.')
    }
  }
  if (ctx.request.is('json') && !/^(|utf-?8|us-ascii)$/i.test(ctx.request.charset)) {
    throw new AppError(415, 'unsupported_media_type', 'JSON must be encoded in UTF-8.')
  }
  await next()
}

/**
 * Refuses a large body of an account that has used too much processor time, before it is read, and counts it otherwise: reading and
 * parsing it would take as long as a request that is answered.
 */
const limitLargeBodies =
  ({ threadTime, rememberedCaller }: AppOptions): Middleware =>
  async (ctx, next) => {
    const bytes = ctx.request.length ?? (ctx.get('Transfer-Encoding') ? MAX_PARSED_BYTES : 0)
    const caller = bytes > SMALL_BODY_BYTES ? rememberedCaller?.(ctx) : undefined
    if (caller && threadTime) {
      ctx.state.leavesBody = true // receiving it would cost almost as much as handling it
      requireThreadTime(threadTime, caller)
      ctx.state.leavesBody = false
      threadTime.charge(caller.userId, Math.min(bytes, MAX_PARSED_BYTES) / BODY_BYTES_PER_MS)
    }
    await next()
  }

/**
 * Answers OPTIONS of endpoints whose body is text with its media type (WHIP, RFC 9725, section 4.2), and leaves JSON for them unread:
 * their response to it is 415, also to JSON that is malformed.
 */
function textEndpoints(endpoints: readonly Endpoint[]): Middleware {
  const posts = endpoints.flatMap(({ method, path, textBody }) =>
    method === 'post' && textBody ? [{ pattern: patternOf(path), textBody }] : [],
  )
  return async (ctx, next) => {
    if (ctx.method !== 'OPTIONS' && ctx.method !== 'POST') return await next()
    const post = posts.find(({ pattern }) => pattern.test(ctx.path))
    if (!post || ctx.method === 'POST') {
      if (post && !ctx.request.is(post.textBody)) ctx.disableBodyParser = true
      return await next()
    }
    ctx.set({ Allow: 'POST, OPTIONS', 'Accept-Post': post.textBody })
    ctx.status = 204
  }
}

/** Leaves the body of a DELETE unread, as most clients send none, except for endpoints that declare one. */
function deletionBodies(endpoints: readonly Endpoint[]): Middleware {
  const withBody = endpoints.flatMap(({ method, path, body }) =>
    method === 'delete' && body ? [patternOf(path)] : [],
  )
  return async (ctx, next) => {
    if (ctx.method === 'DELETE' && !withBody.some((pattern) => pattern.test(ctx.path)))
      ctx.disableBodyParser = true
    await next()
  }
}

const patternOf = (path: string): RegExp => new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`)

/**
 * Most responses belong to one user, and the cache key does not contain the cookie that identifies the user.
 * Cacheable routes override this header.
 */
const UNCACHED = { 'Cache-Control': 'no-store' }

/**
 * Sends the same body for every error of every layer, `{"error": "<text>"}` or a page with the text, and logs one line
 * per request.
 */
function handleErrors({ log, observe, diskIsFull, threadTime }: AppOptions): Middleware {
  return async (ctx, next) => {
    const startedAt = performance.now()
    const ended = threadTime?.begin(`${ctx.method} ${ctx.path}`)
    let cause: unknown
    ctx.set(UNCACHED)
    try {
      await next()
      if (ctx.status === 404 && ctx.body == null) throw routeNotFound()
    } catch (thrown) {
      cause = thrown
      // A database that crashed because of a full disk reports only that it is unreachable.
      const error = isDatabaseUnreachable(thrown) && diskIsFull?.() ? diskFull(thrown) : toAppError(thrown)
      ctx.set(UNCACHED)
      sendError(ctx, error)
      if (ctx.state.leavesBody) ctx.set('Connection', 'close')
      else discardBody(ctx.req)
    }
    ended?.()
    const ms = performance.now() - startedAt
    observe?.({ method: ctx.method, route: routeOf(ctx), status: ctx.status, ms })
    const line = {
      requestId: ctx.state.requestId,
      method: ctx.method,
      path: ctx.path.replace(INVITATION_TOKEN, '$1…'),
      status: ctx.status,
      ms: Math.round(ms * 10) / 10,
      userId: ctx.state.userId,
    }
    const refusal = cause instanceof AppError ? cause : undefined
    const isFailure = ctx.status >= 500 && refusal?.byConfiguration !== true
    // A part that is not ready yet: the caller tries again, and where that was noticed says nothing.
    const isNotReady = refusal?.status === 503 && refusal.cause === undefined
    if (isFailure && isNotReady) log.warn({ ...line, reason: refusal.message }, 'not ready')
    else if (isFailure) log.error({ ...line, err: cause }, 'request failed')
    else log.debug(line, 'request')
  }
}

/**
 * Reads the rest of a request body that no handler reads. Unread bytes would block the next request on the
 * connection.
 */
function discardBody(request: IncomingMessage): void {
  request.unpipe()
  request.resume()
}

/** A path that contains a secret, which no log has. */
const INVITATION_TOKEN = /^(\/api\/invitations\/)[^/]+/

const FIXED_ROUTES = new Set([
  '/',
  '/livez',
  '/readyz',
  '/metrics',
  '/unsubscribe',
  '/api/mcp',
  '/.well-known/oauth-protected-resource',
  '/.well-known/oauth-protected-resource/api/mcp',
])

/**
 * Returns the declared path pattern of the request. It is a metric label, so the number of values must be limited.
 */
function routeOf(ctx: Koa.Context): string {
  const matched: unknown = Reflect.get(ctx, '_matchedRoute') // set by the router
  if (typeof matched === 'string') return matched.replace(/:(\w+)/g, '{$1}')
  if (FIXED_ROUTES.has(ctx.path)) return ctx.path
  const folder = /^\/(auth|idp|scim|dashboard|demo|docs|downloads|datasets|api\/datasets)(?=\/|$)/.exec(
    ctx.path,
  )?.[0]
  return folder ? `${folder}/*` : 'other'
}

function allowedOrigin(origins: readonly string[]) {
  return (ctx: Koa.Context) => {
    const origin = ctx.get('Origin')
    return origins.includes(origin) ? origin : ''
  }
}

/** Responds 405 with `Allow` when the path exists for other methods only. */
function methodNotAllowed(endpoints: readonly Endpoint[]): Middleware {
  const byPattern = new Map<string, { pattern: RegExp; methods: Set<string> }>()
  for (const { path, method } of endpoints) {
    const known = byPattern.get(path) ?? {
      pattern: patternOf(path),
      methods: new Set<string>(),
    }
    known.methods.add(method.toUpperCase())
    if (method === 'get') known.methods.add('HEAD')
    byPattern.set(path, known)
  }
  return async (ctx, next) => {
    if (ctx.status === 404 && ctx.body == null) {
      const methods = new Set<string>()
      for (const { pattern, methods: known } of byPattern.values()) {
        if (pattern.test(ctx.path)) for (const method of known) methods.add(method)
      }
      if (methods.size > 0 && !methods.has(ctx.method)) {
        throw notAllowed(ctx.method, [...methods])
      }
    }
    await next()
  }
}
