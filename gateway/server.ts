import {
  App,
  type HttpRequest,
  type HttpResponse,
  type us_listen_socket,
  us_listen_socket_close,
  us_socket_local_port,
} from 'uWebSockets.js'
import { STATUS_CODES } from 'node:http'
import type { CloseReason } from '@wheelhouse/protocol'
import type { MetricsPage } from '../src/metrics/metrics.http.ts'
import type { RobotTokens } from '../src/robots/robot.token.ts'
import { MAX_BUFFERED_BYTES, RobotLink } from './robot-link.ts'
import type { RobotConnections } from './robots.ts'

/**
 * uWebSockets cuts a connection off without a word at its own limit, so that limit lies higher: a frame just
 * over the protocol's 64 KiB is answered with an error.
 */
const CUT_OFF_BYTES = 256 * 1024
const BEARER_PROTOCOL = 'bearer.'

export interface GatewayServerParts {
  readonly robots: RobotConnections
  readonly tokens: RobotTokens
  readonly clockMs: () => number
  readonly allowedOrigins: readonly string[]
  readonly metricsPage: MetricsPage
  readonly isReady: () => boolean
  readonly isDraining: () => boolean
}

export interface GatewayServer {
  readonly port: number
  /** Stops taking connections; those that are open stay. */
  stopListening(): void
  /** Closes everything that is left. */
  close(): void
}

/** Listens for robots. Rejects with a readable error when the port is taken. */
export function listenForRobots(
  parts: GatewayServerParts,
  host: string,
  port: number,
): Promise<GatewayServer> {
  const { robots, isReady } = parts
  const app = App()
  app.ws<{ link: RobotLink }>('/robots/:id/control', {
    maxPayloadLength: CUT_OFF_BYTES,
    maxBackpressure: MAX_BUFFERED_BYTES,
    idleTimeout: 0, // silence is found by the timer wheel, to the tick
    sendPingsAutomatically: false,
    upgrade(res, req, context) {
      const decision = admit(parts, req)
      if ('status' in decision) {
        const authenticate = decision.status.startsWith('401')
        res.cork(() => {
          res.writeStatus(decision.status)
          if (authenticate) res.writeHeader('WWW-Authenticate', 'Bearer')
          res.writeHeader('Content-Type', 'application/json').end(JSON.stringify({ error: decision.error }))
        })
        return
      }
      const key = req.getHeader('sec-websocket-key')
      const extensions = req.getHeader('sec-websocket-extensions')
      res.upgrade({ link: decision.link }, key, decision.subprotocol, extensions, context)
    },
    open(socket) {
      const { link } = socket.getUserData()
      link.attach(socket)
      robots.opened(link)
    },
    message: (socket, data, isBinary) => robots.message(socket.getUserData().link, data, isBinary),
    drain: (socket) => socket.getUserData().link.drained(),
    close: (socket) => robots.closed(socket.getUserData().link),
  })
  app.get('/livez', (res) => {
    res.end('ok')
  })
  app.get('/readyz', (res) => {
    res.cork(() => {
      res.writeStatus(isReady() ? '200 OK' : '503 Service Unavailable').end(isReady() ? 'ready' : 'not ready')
    })
  })
  app.get('/metrics', (res, req) => answerMetrics(parts.metricsPage, res, req))
  for (const path of ['/livez', '/readyz', '/metrics']) {
    app.any(path, (res, req) => {
      const error = `${req.getCaseSensitiveMethod()} is not allowed here`
      res.cork(() => {
        res.writeStatus('405 Method Not Allowed').writeHeader('Allow', 'GET')
        res.writeHeader('Content-Type', 'application/json').end(JSON.stringify({ error }))
      })
    })
  }
  app.any('/*', (res) => {
    res.cork(() => {
      res.writeStatus('404 Not Found').writeHeader('Content-Type', 'application/json')
      res.end('{"error":"Route not found"}')
    })
  })
  return new Promise((resolve, reject) => {
    app.listen(host, port, (listening: us_listen_socket | false) => {
      if (!listening)
        return reject(new Error(`The gateway cannot listen on ${host}:${port}: is the port in use?`))
      let open: us_listen_socket | undefined = listening
      const stopListening = () => {
        if (open) us_listen_socket_close(open)
        open = undefined
      }
      resolve({ port: us_socket_local_port(listening), stopListening, close: () => app.close() })
    })
  })
}

/** The numbers come later, when the request's memory is gone and perhaps the peer too. */
function answerMetrics(page: MetricsPage, res: HttpResponse, req: HttpRequest): void {
  let gone = false
  res.onAborted(() => {
    gone = true
  })
  page('GET', req.getHeader('authorization')).then(({ status, headers, body }) => {
    if (gone) return
    res.cork(() => {
      res.writeStatus(`${status} ${STATUS_CODES[status]}`)
      for (const [name, value] of Object.entries(headers)) res.writeHeader(name, value)
      res.end(body)
    })
  })
}

type Decision = { link: RobotLink; subprotocol: string } | { status: string; error: string }

/** Decides an upgrade from the request alone: asynchronous upgrades are a source of crashes. */
function admit(parts: GatewayServerParts, req: HttpRequest): Decision {
  if (parts.isDraining())
    return { status: '503 Service Unavailable', error: 'Draining, connect to another node' }
  const origin = req.getHeader('origin')
  if (origin !== '' && !parts.allowedOrigins.includes(origin)) {
    return { status: '403 Forbidden', error: 'Origin not allowed' }
  }
  const offered = req
    .getHeader('sec-websocket-protocol')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
  const identity = parts.tokens.read(bearerToken(req.getHeader('authorization'), offered))
  if (!identity) return { status: '401 Unauthorized', error: 'A valid robot token is required' }
  const robotId = req.getParameter(0)
  if (robotId === undefined || identity.robotId !== robotId) {
    return { status: '403 Forbidden', error: 'The token belongs to another robot' }
  }
  // Browsers want one of the offered protocols back; the token itself only when there is no other.
  const subprotocol = offered.find((entry) => !entry.startsWith(BEARER_PROTOCOL)) ?? offered[0] ?? ''
  // The id from the path: the one cut out of the token would keep the whole header in memory.
  return { link: new RobotLink(robotId, identity.tokenVersion, parts.clockMs()), subprotocol }
}

function bearerToken(authorization: string, offered: readonly string[]): string {
  if (/^bearer /i.test(authorization)) return authorization.slice('bearer '.length).trim()
  return offered.find((entry) => entry.startsWith(BEARER_PROTOCOL))?.slice(BEARER_PROTOCOL.length) ?? ''
}

/** Closes a batch of connections in every turn of the event loop, so that a drain starves nobody. */
export async function closeAll(
  robots: RobotConnections,
  reason: CloseReason,
  batchSize = 500,
): Promise<void> {
  for (;;) {
    const batch = [...robots.all()].slice(0, batchSize)
    if (batch.length === 0) return
    for (const link of batch) link.close(reason)
    await new Promise((resolve) => setImmediate(resolve))
  }
}
