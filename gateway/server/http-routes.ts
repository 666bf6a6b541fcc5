import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js'
import { STATUS_CODES } from 'node:http'
import { ERROR_CODE_HEADER, type ErrorCode } from '@wheelhouse/protocol'
import type { MetricsPage } from '../../src/core/metrics/metrics-http.ts'
import type { Guard } from '../../src/core/process/guard.ts'

const PROBES = ['/livez', '/readyz', '/metrics']

export interface ProbeDeps {
  readonly guard: Guard
  readonly metricsPage: MetricsPage
  readonly isReady: () => boolean
}

/** Serves the probes and the metrics over plain HTTP; responds 404 to everything else. */
export function serveProbes(app: TemplatedApp, { guard, isReady, metricsPage }: ProbeDeps): void {
  const refuse = ambiguityRefusal(guard)
  const route = (name: string, answer: (res: HttpResponse, req: HttpRequest) => unknown) =>
    guard.handler(
      `http:${name}`,
      (res: HttpResponse, req: HttpRequest) => {
        const problem = ambiguity(req)
        return problem === undefined ? answer(res, req) : refuse(res, problem)
      },
      (res) => respond(res, '500 Internal Server Error', 'internal_error', 'Internal error'),
    )
  const notAllowed = route('method', (res, req) => {
    const error = `${req.getCaseSensitiveMethod()} is not allowed here. Use GET.`
    respond(res, '405 Method Not Allowed', 'method_not_allowed', error, { Allow: 'GET' })
  })
  app.get(
    '/livez',
    route('livez', (res) => res.end('ok')),
  )
  app.get(
    '/readyz',
    route('readyz', (res) => {
      res.cork(() => {
        if (isReady()) return void res.writeStatus('200 OK').end('ready')
        const notReady: ErrorCode = 'not_ready'
        res.writeStatus('503 Service Unavailable').writeHeader(ERROR_CODE_HEADER, notReady).end('not ready')
      })
    }),
  )
  app.get(
    '/metrics',
    route('metrics', (res, req) => answerMetrics(metricsPage, res, req)),
  )
  for (const path of PROBES) app.any(path, notAllowed)
  app.any(
    '/*',
    route('other', (res) => respond(res, '404 Not Found', 'route_not_found', 'Route not found')),
  )
}

/** Sends an error in the common form of all error bodies. */
export function respond(
  res: HttpResponse,
  status: string,
  code: ErrorCode,
  error: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  res.cork(() => {
    res.writeStatus(status).writeHeader(ERROR_CODE_HEADER, code)
    for (const [name, value] of Object.entries(headers)) res.writeHeader(name, value)
    res.writeHeader('Content-Type', 'application/json').end(JSON.stringify({ error }))
  })
}

/**
 * Returns a function that refuses ambiguous requests. It responds in the next turn of the event loop: after an immediate
 * response, uWebSockets would parse the rest of the same bytes as another request. It closes the connection instead if it
 * finds a second request behind one that has no response yet.
 */
export function ambiguityRefusal(guard: Guard): (res: HttpResponse, error: string) => void {
  const scheduleAnswer = guard.timer(
    'timer:refusal',
    (res: HttpResponse, error: string, isAborted: () => boolean) => {
      if (isAborted()) return
      res.cork(() => {
        res
          .writeStatus('400 Bad Request')
          .writeHeader(ERROR_CODE_HEADER, 'malformed_request' satisfies ErrorCode)
        res.writeHeader('Content-Type', 'application/json')
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

/** Responds asynchronously: by then `req` is invalid, and the peer may have disconnected. */
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

/**
 * Returns why a proxy might parse the request differently than uWebSockets does, which allows a second request to hide in
 * the body of the first one (request smuggling); undefined for an unambiguous request. uWebSockets uses the first of
 * several Content-Length headers, and the last word of a Transfer-Encoding.
 */
function ambiguity(req: HttpRequest): string | undefined {
  const lengths: string[] = []
  const encodings: string[] = []
  let hosts = 0
  req.forEach((name, value) => {
    if (name === 'content-length') lengths.push(value)
    else if (name === 'transfer-encoding') encodings.push(value)
    else if (name === 'host') hosts++
  })
  if (hosts > 1) return 'A request must have one Host header'
  if (lengths.length > 1) return 'A request must have at most one Content-Length header'
  if (lengths.length > 0 && encodings.length > 0)
    return 'A request must not have both Content-Length and Transfer-Encoding'
  if (lengths.length > 0 && !/^\d+$/.test(lengths[0] as string)) return 'Content-Length must be a number'
  if (encodings.length > 1 || (encodings.length > 0 && !/^chunked$/i.test(encodings[0] as string))) {
    return 'Transfer-Encoding must be `chunked`, and occur once'
  }
  return undefined
}

/** Returns why the framing of an upgrade is refused: the bytes of a body would be parsed as WebSocket frames. */
export function upgradeAmbiguity(req: HttpRequest): string | undefined {
  const problem = ambiguity(req)
  if (problem !== undefined) return problem
  const length = req.getHeader('content-length')
  const hasBody = (length !== '' && !/^0+$/.test(length)) || req.getHeader('transfer-encoding') !== ''
  return hasBody ? 'An upgrade must not have a body' : undefined
}
