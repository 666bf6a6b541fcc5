import type { RequestListener } from 'node:http'
import type { Middleware } from 'koa'
import { notAllowed } from '../http/errors.ts'
import type { MetricsPage } from '../metrics/metrics.http.ts'

/** For load balancers: `/livez` says that the process runs, `/readyz` that it should get traffic. */
export function probes(isReady: () => boolean): Middleware {
  return async (http, next) => {
    const ready = http.path === '/readyz'
    if (!ready && http.path !== '/livez') return await next()
    if (http.method !== 'GET' && http.method !== 'HEAD') {
      throw notAllowed(http.method, ['GET', 'HEAD'])
    }
    if (ready) {
      http.status = isReady() ? 200 : 503
      http.body = isReady() ? 'ready' : 'not ready'
    } else http.body = 'ok'
  }
}

/** The probes and `/metrics` of a process that serves no HTTP otherwise. */
export function probeHandler(isReady: () => boolean, metricsPage: MetricsPage): RequestListener {
  return async (request, response) => {
    const { method = '', url = '', headers } = request
    const [path] = url.split('?')
    const answer = (status: number, body: object, more: Record<string, string> = {}) =>
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
    } else if (path !== '/livez' && path !== '/readyz') answer(404, { error: 'Route not found' })
    else if (method !== 'GET' && method !== 'HEAD') {
      answer(405, { error: `${method} is not allowed here` }, { Allow: 'GET, HEAD' })
    } else {
      const ready = path === '/livez' || isReady()
      answer(ready ? 200 : 503, { ready })
    }
  }
}
