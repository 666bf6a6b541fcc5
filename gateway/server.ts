import {
  App,
  type HttpRequest,
  type HttpResponse,
  type TemplatedApp,
  type us_listen_socket,
  us_listen_socket_close,
  type us_socket_context_t,
  us_socket_local_port,
  type WebSocketBehavior,
} from 'uWebSockets.js'
import type { Guard } from '../src/core/errors/guard.ts'
import { type Admission, type Decision, refuse } from './admission.ts'
import { ambiguityRefusal, type ProbeParts, respond, serveProbes } from './http-routes.ts'
import { type Link, MAX_BUFFERED_BYTES, type SocketData } from './link.ts'
import type { PersonLink } from './person-link.ts'
import { upgradeAmbiguity } from './request-framing.ts'
import type { RobotLink } from './robot-link.ts'

/**
 * uWebSockets cuts a connection off without a word at its own limit, so that limit lies higher: a frame just
 * over the protocol's 64 KiB is answered with an error.
 */
const CUT_OFF_BYTES = 256 * 1024

/** LIBUS_LISTEN_EXCLUSIVE_PORT, which the types declare and do not export. */
const EXCLUSIVE_PORT = 1

/** What happens to the links of one kind, robots or people. */
export interface LinkHandlers<L extends Link> {
  opened(link: L): void
  message(link: L, data: ArrayBuffer, isBinary: boolean): void
  drained(link: L): void
  /** The peer's library answered a ping. */
  pong(link: L): void
  /** Called again when it has failed, so every step of it may be repeated. */
  closed(link: L): void
}

export interface GatewayServerParts extends ProbeParts {
  readonly admission: Admission
  readonly robots: LinkHandlers<RobotLink>
  readonly people: LinkHandlers<PersonLink>
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
  const { admission, robots, people, guard } = parts
  const app = App()
  app.ws('/robots/:id/control', behavior(guard, 'robot', robots, admission.robot))
  app.ws(
    '/sessions/:id/control',
    behavior(guard, 'operator', people, (req) => admission.person(req, 'control')),
  )
  app.ws(
    '/sessions/:id/watch',
    behavior(guard, 'observer', people, (req) => admission.person(req, 'watch')),
  )
  serveProbes(app, parts)
  return new Promise((resolve, reject) => {
    listenAlone(app, host, port, (listening) => {
      if (!listening) {
        const advice = 'it is in use; end the other program or set GATEWAY_PORT'
        return reject(new Error(`Cannot listen on ${host}:${port}: ${advice}`))
      }
      let open: us_listen_socket | undefined = listening
      const stopListening = () => {
        if (open) us_listen_socket_close(open)
        open = undefined
      }
      resolve({ port: us_socket_local_port(listening), stopListening, close: () => app.close() })
    })
  })
}

type Listening = (socket: us_listen_socket | false) => void

/**
 * Listens as the only process on the port. By default uWebSockets shares it (SO_REUSEPORT): a second gateway would take
 * half of the connections unnoticed. The types have the option with a port alone; the program takes it with a host too.
 */
function listenAlone(app: TemplatedApp, host: string, port: number, listening: Listening): void {
  const exclusive = app as unknown as {
    listen(host: string, port: number, options: number, listening: Listening): void
  }
  exclusive.listen(host, port, EXCLUSIVE_PORT, listening)
}

/** The handlers of one kind of sockets. Nothing but `on.…`, which is guarded, may stand in them: it ends the process. */
function behavior<L extends Link>(
  guard: Guard,
  kind: 'robot' | 'operator' | 'observer',
  handlers: LinkHandlers<L>,
  admit: (req: HttpRequest) => Decision,
): WebSocketBehavior<SocketData> {
  const linkOf = (data: SocketData) => data.link as L // `admit` made it
  const on = guardedHandlers(guard, kind, handlers)
  const refuseAmbiguous = ambiguityRefusal(guard)
  const upgrade = guard.handler(
    `${kind}:upgrade`,
    (res: HttpResponse, req: HttpRequest, context: us_socket_context_t) => {
      const problem = upgradeAmbiguity(req)
      if (problem !== undefined) return refuseAmbiguous(res, problem)
      const decision = admit(req)
      if ('status' in decision) return refuse(res, decision)
      const key = req.getHeader('sec-websocket-key')
      const extensions = req.getHeader('sec-websocket-extensions')
      res.upgrade({ link: decision.link }, key, decision.subprotocol, extensions, context)
    },
    (res) => respond(res, '500 Internal Server Error', 'Internal error, try again shortly'),
  )
  return {
    maxPayloadLength: CUT_OFF_BYTES,
    maxBackpressure: MAX_BUFFERED_BYTES,
    idleTimeout: 0, // silence is found by our own means, to the tick
    sendPingsAutomatically: false,
    upgrade,
    open(socket) {
      const link = linkOf(socket.getUserData())
      link.attach(socket)
      on.open(link)
    },
    message: (socket, data, isBinary) => on.message(linkOf(socket.getUserData()), data, isBinary),
    drain: (socket) => on.drain(linkOf(socket.getUserData())),
    pong: (socket) => on.pong(linkOf(socket.getUserData())),
    close(socket) {
      const link = linkOf(socket.getUserData())
      link.detach() // first of all: whoever touches a socket that is gone fails
      on.close(link)
    },
  }
}

/** What fails closes its connection; the peer may come back. */
function guardedHandlers<L extends Link>(guard: Guard, kind: string, handlers: LinkHandlers<L>) {
  const end = (link: L) => link.close('internalError')
  return {
    open: guard.handler(`${kind}:open`, handlers.opened, end),
    message: guard.handler(`${kind}:message`, handlers.message, end),
    drain: guard.handler(
      `${kind}:drain`,
      (link: L) => {
        link.drained()
        handlers.drained(link)
      },
      end,
    ),
    pong: guard.handler(`${kind}:pong`, handlers.pong, end),
    close: guard.handler(`${kind}:close`, handlers.closed, handlers.closed),
  }
}
