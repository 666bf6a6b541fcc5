import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { bodyParser } from '@koa/bodyparser'
import cors from '@koa/cors'
import Koa, { type Middleware } from 'koa'
import helmet from 'koa-helmet'
import type { Log } from '../log.ts'
import { checkedAnswers } from './answer-check.ts'
import { type Authenticate, type Endpoint, mount } from './endpoint.ts'
import { AppError, notFound, toAppError } from './errors.ts'

const REQUEST_BODY_LIMIT = '256kb'

export interface AppParts {
  readonly log: Log
  readonly corsOrigins: readonly string[]
  readonly trustProxy: boolean
  /** Whether the public origin is https. */
  readonly https: boolean
  readonly endpoints: readonly Endpoint[]
  readonly authenticate: Authenticate
  /** Middleware that stands before the routes: the login pages and the built-in identity provider. */
  readonly before: readonly Middleware[]
  /** Whether every answer is held against its declaration: for tests, as it costs time. */
  readonly checkAnswers?: boolean
}

/** The HTTP application, complete: build everything first, then call `callback()` once. */
export function createApp(parts: AppParts): Koa {
  const app = new Koa({ proxy: parts.trustProxy })
  app.silent = true // every error is answered and logged by `answerErrors`
  app.use(requestId)
  app.use(answerErrors(parts.log))
  app.use(helmet(parts.https ? {} : plainHttp))
  app.use(cors({ origin: allowedOrigin(parts.corsOrigins), credentials: true, keepHeadersOnError: true }))
  for (const middleware of parts.before) app.use(middleware)
  app.use(bodyParser({ enableTypes: ['json'], jsonLimit: REQUEST_BODY_LIMIT, encoding: 'utf-8' }))
  const router = mount(parts.endpoints, parts.authenticate, parts.checkAnswers ? checkedAnswers : undefined)
  app.use(router.routes())
  app.use(methodNotAllowed(parts.endpoints))
  return app
}

/** Over plain http, a browser that is told to upgrade every request finds nothing. */
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

/** One body for every failure of every layer: `{"error": "<text>"}`; one log line for every request. */
function answerErrors(log: Log): Middleware {
  return async (ctx, next) => {
    const startedAt = performance.now()
    let cause: unknown
    try {
      await next()
      if (ctx.status === 404 && ctx.body == null) throw notFound('Route')
    } catch (thrown) {
      cause = thrown
      const error = toAppError(thrown)
      ctx.status = error.status
      ctx.set(error.headers)
      ctx.body = { error: error.message }
      discardBody(ctx.req)
    }
    const line = {
      requestId: ctx.state.requestId,
      method: ctx.method,
      path: ctx.path,
      status: ctx.status,
      ms: Math.round((performance.now() - startedAt) * 10) / 10,
      userId: ctx.state.userId,
    }
    if (ctx.status >= 500) log.error({ ...line, err: cause }, 'request failed')
    else log.debug(line, 'request')
  }
}

/** Reads on to the end of a body that was given up half-way: what is unread would block the next request. */
function discardBody(request: IncomingMessage): void {
  request.unpipe()
  request.resume()
}

function allowedOrigin(origins: readonly string[]) {
  return (ctx: Koa.Context) => {
    const origin = ctx.get('Origin')
    return origins.includes(origin) ? origin : ''
  }
}

/** 405 with `Allow` for a known path asked with another method. */
function methodNotAllowed(endpoints: readonly Endpoint[]): Middleware {
  const byPattern = new Map<string, { pattern: RegExp; methods: Set<string> }>()
  for (const { path, method } of endpoints) {
    const known = byPattern.get(path) ?? {
      pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
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
        throw new AppError(405, `${ctx.method} is not allowed here`, {
          headers: { Allow: [...methods].join(', ') },
        })
      }
    }
    await next()
  }
}
