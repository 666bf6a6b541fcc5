import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js'
import { STATUS_CODES } from 'node:http'
import type { Guard } from '../../src/core/process/guard.ts'
import type { MetricsPage } from '../../src/core/metrics/metrics-http.ts'
import { ambiguity } from './request-framing.ts'

const PROBES = ['/livez', '/readyz', '/metrics']

export interface ProbeDeps {
  readonly guard: Guard
  readonly metricsPage: MetricsPage
  readonly isReady: () => boolean
}

/** Serves what is asked over plain HTTP; everything else is answered 404. */
export function serveProbes(app: TemplatedApp, { guard, isReady, metricsPage }: ProbeDeps): void {
  const refuse = ambiguityRefusal(guard)
  const route = (name: string, answer: (res: HttpResponse, req: HttpRequest) => unknown) =>
    guard.handler(
      `http:${name}`,
      (res: HttpResponse, req: HttpRequest) => {
        const problem = ambiguity(req)
        return problem === undefined ? answer(res, req) : refuse(res, problem)
      },
      (res) => respond(res, '500 Internal Server Error', 'Internal error'),
    )
  const notAllowed = route('method', (res, req) => {
    respond(res, '405 Method Not Allowed', `${req.getCaseSensitiveMethod()} is not allowed here. Use GET.`, {
      Allow: 'GET',
    })
  })
  app.get(
    '/livez',
    route('livez', (res) => res.end('ok')),
  )
  app.get(
    '/readyz',
    route('readyz', (res) => {
      const [status, text] = isReady() ? ['200 OK', 'ready'] : ['503 Service Unavailable', 'not ready']
      res.cork(() => void res.writeStatus(status).end(text))
    }),
  )
  app.get(
    '/metrics',
    route('metrics', (res, req) => answerMetrics(metricsPage, res, req)),
  )
  for (const path of PROBES) app.any(path, notAllowed)
  app.any(
    '/*',
    route('other', (res) => respond(res, '404 Not Found', 'Route not found')),
  )
}

/** Answers with the one body of all errors. */
export function respond(
  res: HttpResponse,
  status: string,
  error: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  res.cork(() => {
    res.writeStatus(status)
    for (const [name, value] of Object.entries(headers)) res.writeHeader(name, value)
    res.writeHeader('Content-Type', 'application/json').end(JSON.stringify({ error }))
  })
}

/**
 * Returns what refuses requests that others might read differently. The answer waits for the next turn of the event
 * loop: uWebSockets would go on reading what follows in the same bytes behind an answer that was given at once, and
 * breaks the connection when it finds a second request behind one that still waits.
 */
export function ambiguityRefusal(guard: Guard): (res: HttpResponse, error: string) => void {
  const scheduleAnswer = guard.timer(
    'timer:refusal',
    (res: HttpResponse, error: string, isAborted: () => boolean) => {
      if (isAborted()) return
      res.cork(() => {
        res.writeStatus('400 Bad Request').writeHeader('Content-Type', 'application/json')
        res.end(JSON.stringify({ error }), true)
      })
    },
    (res, _error, isAborted) => isAborted() || res.close(),
  )
  return (res, error) => {
    let aborted = false
    res.onAborted(() => {
      aborted = true
    })
    scheduleAnswer(0, res, error, () => aborted)
  }
}

/** The numbers come later, when the request's memory is gone and perhaps the peer too. */
async function answerMetrics(page: MetricsPage, res: HttpResponse, req: HttpRequest): Promise<void> {
  let aborted = false
  res.onAborted(() => {
    aborted = true
  })
  const { status, headers, body } = await page('GET', req.getHeader('authorization'))
  if (aborted) return
  res.cork(() => {
    res.writeStatus(`${status} ${STATUS_CODES[status]}`)
    for (const [name, value] of Object.entries(headers)) res.writeHeader(name, value)
    res.end(body)
  })
}
