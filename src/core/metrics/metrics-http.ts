import { createHash, timingSafeEqual } from 'node:crypto'
import type { Middleware } from 'koa'
import { notAllowed, routeNotFound, toAppError, unauthorized } from '../errors/errors.ts'
import type { Metrics } from './metrics.ts'

export interface MetricsResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * Creates the handler of `/metrics`, for every kind of server. With a token configured, the scraper must send it.
 * Without a token the page is open, except in production, where it does not exist.
 */
export function createMetricsPage(options: {
  metrics: Metrics
  token: string | undefined
  production: boolean
}) {
  const { metrics, token, production } = options
  const digest = (text: string) => createHash('sha256').update(text).digest()
  const wanted = token === undefined ? undefined : digest(`Bearer ${token}`)

  /**
   * Authorizes a scrape.
   * @throws 401, 404
   */
  function check(authorization: string | undefined): void {
    if (wanted === undefined) {
      if (production) throw routeNotFound()
    } else if (!timingSafeEqual(digest(authorization ?? ''), wanted)) {
      throw unauthorized(
        'unauthenticated',
        'The metrics token is required: Authorization: Bearer <METRICS_TOKEN>',
      )
    }
  }

  return async (method: string, authorization: string | undefined): Promise<MetricsResponse> => {
    try {
      check(authorization)
      if (method !== 'GET' && method !== 'HEAD') {
        throw notAllowed(method, ['GET', 'HEAD'])
      }
      const headers = { 'Content-Type': metrics.registry.contentType, 'Cache-Control': 'no-store' }
      return { status: 200, headers, body: await metrics.registry.metrics() }
    } catch (cause) {
      const { status, message, headers } = toAppError(cause)
      const body = JSON.stringify({ error: message })
      return { status, headers: { ...headers, 'Content-Type': 'application/json; charset=utf-8' }, body }
    }
  }
}
export type MetricsPage = ReturnType<typeof createMetricsPage>

/** Creates the route `/metrics` of the api. */
export function metricsRoute(page: MetricsPage): Middleware {
  return async (http, next) => {
    if (http.path !== '/metrics') return await next()
    const { status, headers, body } = await page(http.method, http.req.headers.authorization)
    http.status = status
    http.body = body
    http.set(headers)
  }
}
