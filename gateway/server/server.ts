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
import type { Guard } from '../../src/core/process/guard.ts'
import { listenProblem } from '../../src/core/process/listen-problem.ts'
import { type GatewayConnection, MAX_BUFFERED_BYTES, type SocketData } from '../base/connection.ts'
import type { ParticipantConnection } from '../participants/participant-connection.ts'
import type { RobotConnection } from '../robots/robot-connection.ts'
import { type ConnectionAdmission, refuse, type UpgradeDecision } from './connection-admission.ts'
import { ambiguityRefusal, type ProbeDeps, respond, serveProbes, upgradeAmbiguity } from './http-routes.ts'

/**
 * The limit of uWebSockets, which closes a connection beyond it without an error frame. It is higher than the protocol's
 * 64 KiB, so that a frame just over those is answered with an error.
 */
const MAX_PAYLOAD_BYTES = 256 * 1024

/** LIBUS_LISTEN_EXCLUSIVE_PORT: the types declare it, but the package does not export it. */
const EXCLUSIVE_PORT = 1

/** Handles the socket events of robots, or of participants. */
export interface ConnectionHandlers<L extends GatewayConnection> {
  opened(connection: L): void
  message(connection: L, data: ArrayBuffer, isBinary: boolean): void
  drained(connection: L): void
  /** Handles the pong of the peer's library. */
  pong(connection: L): void
  /** Handles the close. It runs a second time if it throws, so every step must be repeatable. */
  closed(connection: L): void
}

export interface GatewayServerDeps extends ProbeDeps {
  readonly connectionAdmission: ConnectionAdmission
  readonly robots: ConnectionHandlers<RobotConnection>
  readonly participants: ConnectionHandlers<ParticipantConnection>
}

export interface GatewayServer {
  readonly port: number
  /** Stops accepting connections; open connections stay open. */
  stopListening(): void
  /** Closes all remaining connections. */
  close(): void
}

export type ListenForConnections = typeof listenForConnections

/** Listens for robots, operators and observers. Rejects with a readable error if the port is in use. */
export function listenForConnections(
  deps: GatewayServerDeps,
  host: string,
  port: number,
): Promise<GatewayServer> {
  const { connectionAdmission, robots, participants, guard } = deps
  const app = App()
  app.ws('/robots/:id/control', behavior(guard, 'robot', robots, connectionAdmission.robot))
  app.ws(
    '/sessions/:id/control',
    behavior(guard, 'operator', participants, (req) => connectionAdmission.participant(req, 'control')),
  )
  app.ws(
    '/sessions/:id/watch',
    behavior(guard, 'observer', participants, (req) => connectionAdmission.participant(req, 'watch')),
  )
  serveProbes(app, deps)
  return new Promise((resolve, reject) => {
    listenExclusive(app, host, port, (listening) => {
      if (!listening) return reject(listenProblem({ host, port, variable: 'GATEWAY_PORT' }))
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
 * Listens as the only process on the port. By default uWebSockets shares the port (SO_REUSEPORT): a second gateway would
 * accept half of the connections unnoticed. The types declare the option with a port only; it works with a host too.
 */
function listenExclusive(app: TemplatedApp, host: string, port: number, listening: Listening): void {
  const exclusive = app as unknown as {
    listen(host: string, port: number, options: number, listening: Listening): void
  }
  exclusive.listen(host, port, EXCLUSIVE_PORT, listening)
}

/** Returns the handlers of one kind of sockets. They call only guarded code, because an exception ends the process. */
function behavior<L extends GatewayConnection>(
  guard: Guard,
  kind: 'robot' | 'operator' | 'observer',
  handlers: ConnectionHandlers<L>,
  authorizeUpgrade: (req: HttpRequest) => UpgradeDecision,
): WebSocketBehavior<SocketData> {
  const connectionOf = (data: SocketData) => data.connection as L // created by `authorizeUpgrade`
  const on = guardedHandlers(guard, kind, handlers)
  const refuseAmbiguous = ambiguityRefusal(guard)
  const upgrade = guard.handler(
    `${kind}:upgrade`,
    (res: HttpResponse, req: HttpRequest, context: us_socket_context_t) => {
      const problem = upgradeAmbiguity(req)
      if (problem !== undefined) return refuseAmbiguous(res, problem)
      const decision = authorizeUpgrade(req)
      if ('status' in decision) return refuse(res, decision)
      const key = req.getHeader('sec-websocket-key')
      const extensions = req.getHeader('sec-websocket-extensions')
      res.upgrade({ connection: decision.connection }, key, decision.subprotocol, extensions, context)
    },
    (res) =>
      respond(res, '500 Internal Server Error', 'internal_error', 'Internal error. Try again shortly.'),
  )
  return {
    maxPayloadLength: MAX_PAYLOAD_BYTES,
    maxBackpressure: MAX_BUFFERED_BYTES,
    idleTimeout: 0, // the timer wheel finds silent connections
    sendPingsAutomatically: false,
    upgrade,
    open(socket) {
      const connection = connectionOf(socket.getUserData())
      connection.attach(socket)
      on.open(connection)
    },
    message: (socket, data, isBinary) => on.message(connectionOf(socket.getUserData()), data, isBinary),
    drain: (socket) => on.drain(connectionOf(socket.getUserData())),
    pong: (socket) => on.pong(connectionOf(socket.getUserData())),
    close(socket) {
      const connection = connectionOf(socket.getUserData())
      connection.detach() // first: any use of a closed socket throws
      on.close(connection)
    },
  }
}

/** Guards the handlers: an exception closes the connection, and the peer may reconnect. */
function guardedHandlers<L extends GatewayConnection>(
  guard: Guard,
  kind: string,
  handlers: ConnectionHandlers<L>,
) {
  const end = (connection: L) => connection.close('internalError')
  return {
    open: guard.handler(`${kind}:open`, handlers.opened, end),
    message: guard.untimed(`${kind}:message`, handlers.message, end),
    drain: guard.handler(
      `${kind}:drain`,
      (connection: L) => {
        connection.drained()
        handlers.drained(connection)
      },
      end,
    ),
    pong: guard.handler(`${kind}:pong`, handlers.pong, end),
    close: guard.handler(`${kind}:close`, handlers.closed, handlers.closed),
  }
}
