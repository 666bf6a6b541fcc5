import type { RequestListener } from 'node:http'
import type { Middleware } from 'koa'
import { errorHeader, notAllowed } from '../../../core/errors/errors.ts'
import type { MetricsPage } from '../../../core/metrics/metrics-http.ts'

/** Returns why this process is not ready; undefined when it is ready. */
export type Readiness = () => string | undefined

/** Serves the probes of load balancers: `/livez` reports that the process runs, `/readyz` that it accepts traffic. */
export function probes(readiness: Readiness): Middleware {
  return async (http, next) => {
    const ready = http.path === '/readyz'
    if (!ready && http.path !== '/livez') return await next()
    if (http.method !== 'GET' && http.method !== 'HEAD') {
      throw notAllowed(http.method, ['GET', 'HEAD'])
    }
    if (ready) {
      const notReadyReason = readiness()
      http.status = notReadyReason === undefined ? 200 : 503
      if (notReadyReason !== undefined) http.set(errorHeader('not_ready'))
      http.body = notReadyReason === undefined ? 'ready' : `not ready: ${notReadyReason}`
    } else http.body = 'ok'
  }
}

/** Serves the probes and `/metrics` of a process without other HTTP routes. */
export function probeHandler(readiness: Readiness, metricsPage: MetricsPage): RequestListener {
  return async (request, response) => {
    const { method = '', url = '', headers } = request
    const [path] = url.split('?')
    const respond = (status: number, body: object, more: Record<string, string> = {}) =>
      response
        .writeHead(status, {
          'Content-Type': 'application/json; charset=utf-8',
          'Cache-Control': 'no-store',
          ...more,
        })
        .end(method === 'HEAD' ? undefined : JSON.stringify(body))
    if (path === '/metrics') {
      const page = await metricsPage(method, headers.authorization)
      response.writeHead(page.status, page.headers).end(method === 'HEAD' ? undefined : page.body)
    } else if (path !== '/livez' && path !== '/readyz')
      respond(404, { error: 'Route not found' }, errorHeader('route_not_found'))
    else if (method !== 'GET' && method !== 'HEAD') {
      respond(
        405,
        { error: `${method} is not allowed here. Use GET or HEAD.` },
        {
          Allow: 'GET, HEAD',
          ...errorHeader('method_not_allowed'),
        },
      )
    } else {
      const notReadyReason = path === '/livez' ? undefined : readiness()
      if (notReadyReason === undefined) respond(200, { ready: true })
      else respond(503, { ready: false, error: `not ready: ${notReadyReason}` }, errorHeader('not_ready'))
    }
  }
}
