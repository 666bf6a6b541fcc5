import {
  App,
  type HttpRequest,
  type HttpResponse,
  type TemplatedApp,
  type us_listen_socket,
  us_listen_socket_close,
  us_socket_local_port,
  type WebSocketBehavior,
} from 'uWebSockets.js'
import { STATUS_CODES } from 'node:http'
import type { MetricsPage } from '../src/metrics/metrics.http.ts'
import { type Admission, type Decision, refuse } from './admission.ts'
import { type Link, MAX_BUFFERED_BYTES, type SocketData } from './link.ts'
import type { PersonLink } from './person-link.ts'
import type { RobotLink } from './robot-link.ts'

/**
 * uWebSockets cuts a connection off without a word at its own limit, so that limit lies higher: a frame just
 * over the protocol's 64 KiB is answered with an error.
 */
const CUT_OFF_BYTES = 256 * 1024

/** What happens to the links of one kind, robots or people. */
export interface LinkHandlers<L extends Link> {
  opened(link: L): void
  message(link: L, data: ArrayBuffer, isBinary: boolean): void
  drained(link: L): void
  /** The peer's library answered a ping. */
  pong(link: L): void
  closed(link: L): void
}

export interface GatewayServerParts {
  readonly admission: Admission
  readonly robots: LinkHandlers<RobotLink>
  readonly people: LinkHandlers<PersonLink>
  readonly metricsPage: MetricsPage
  readonly isReady: () => boolean
}

export interface GatewayServer {
  readonly port: number
  /** Stops taking connections; those that are open stay. */
  stopListening(): void
  /** Closes everything that is left. */
  close(): void
}

/** Listens for robots, operators and watchers. Rejects with a readable error when the port is taken. */
export function listenForLinks(
  parts: GatewayServerParts,
  host: string,
  port: number,
): Promise<GatewayServer> {
  const { admission, robots, people } = parts
  const app = App()
  app.ws('/robots/:id/control', behavior(robots, admission.robot))
  app.ws(
    '/sessions/:id/control',
    behavior(people, (req) => admission.person(req, 'control')),
  )
  app.ws(
    '/sessions/:id/watch',
    behavior(people, (req) => admission.person(req, 'watch')),
  )
  serveProbes(app, parts)
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

function behavior<L extends Link>(
  handlers: LinkHandlers<L>,
  admit: (req: HttpRequest) => Decision,
): WebSocketBehavior<SocketData> {
  const linkOf = (data: SocketData) => data.link as L // `admit` made it
  return {
    maxPayloadLength: CUT_OFF_BYTES,
    maxBackpressure: MAX_BUFFERED_BYTES,
    idleTimeout: 0, // silence is found by our own means, to the tick
    sendPingsAutomatically: false,
    upgrade(res, req, context) {
      const decision = admit(req)
      if ('status' in decision) return refuse(res, decision)
      const key = req.getHeader('sec-websocket-key')
      const extensions = req.getHeader('sec-websocket-extensions')
      res.upgrade({ link: decision.link }, key, decision.subprotocol, extensions, context)
    },
    open(socket) {
      const link = linkOf(socket.getUserData())
      link.attach(socket)
      handlers.opened(link)
    },
    message: (socket, data, isBinary) => handlers.message(linkOf(socket.getUserData()), data, isBinary),
    drain(socket) {
      const link = linkOf(socket.getUserData())
      link.drained()
      handlers.drained(link)
    },
    pong: (socket) => handlers.pong(linkOf(socket.getUserData())),
    close: (socket) => handlers.closed(linkOf(socket.getUserData())),
  }
}

/** What is asked over plain HTTP; everything else is answered 404. */
function serveProbes(app: TemplatedApp, { isReady, metricsPage }: GatewayServerParts): void {
  app.get('/livez', (res) => {
    res.end('ok')
  })
  app.get('/readyz', (res) => {
    res.cork(() => {
      res.writeStatus(isReady() ? '200 OK' : '503 Service Unavailable').end(isReady() ? 'ready' : 'not ready')
    })
  })
  app.get('/metrics', (res, req) => answerMetrics(metricsPage, res, req))
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
