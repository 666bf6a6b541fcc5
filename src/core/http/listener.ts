import { randomUUID } from 'node:crypto'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { ERROR_CODE_HEADER } from '@wheelhouse/protocol'
import pTimeout from 'p-timeout'
import { errorCodeOf, errorHeader } from '../errors/errors.ts'
import { listenProblem } from '../process/listen-problem.ts'
import { pagePolicy, renderPage, template } from './html-page.ts'

const STARTING_PAGE = renderPage({
  title: 'Wheelhouse is starting',
  body: template('<p class="lead">This page reloads itself in a moment.</p>')({}),
})

/** The time limit for receiving a complete request. Its headers have a shorter limit. */
const REQUEST_LIMIT_MS = 30_000
/** How long the headers of a request may take to arrive. */
const HEADERS_LIMIT_MS = 15_000
/**
 * How long a connection stays open for another request. Proxies and load balancers keep idle connections for up to 60 seconds: if
 * this server closed them first, a request that is just being sent would be lost. The time limit for headers begins with the
 * first byte of a request, so it may be shorter.
 */
const KEEP_ALIVE_MS = 65_000
/**
 * The length of the accept queue, where the system allows it. The 511 of Node is too short when all clients of
 * another hub reconnect at once: the system silently drops a connection that does not fit, and the client retries
 * after a second.
 */
const BACKLOG = 4_096
/** How often a closing server checks for connections whose request has been answered. */
const IDLE_CHECK_MS = 50

const options: ServerOptions = {
  requestTimeout: REQUEST_LIMIT_MS,
  headersTimeout: HEADERS_LIMIT_MS,
  keepAliveTimeout: KEEP_ALIVE_MS,
  connectionsCheckingInterval: 1_000,
}

const isWebSocketUpgrade = ({ headers }: IncomingMessage) => /^websocket$/i.test(headers.upgrade ?? '')
const isHubPath = (path: string) => path.startsWith('/socket.io/')
const pathOf = ({ url = '' }: IncomingMessage): string => url.split('?', 1)[0] ?? ''

/** Accepts WebSocket upgrades of some paths. */
export interface UpgradeHandler {
  /** Returns whether the handler serves a path, without the query. */
  serves(path: string): boolean
  /** Answers an upgrade of such a path. */
  handle(request: IncomingMessage, socket: Duplex, head: Buffer): void
}

/**
 * An HTTP server that listens before its handler exists, so that public URLs can contain the port even for port 0.
 */
export interface Listener {
  readonly server: Server
  readonly port: number
  /** The bound address, as the operating system reports it. */
  readonly address: string
  /** Sets the handler of requests. Before that, every request gets 503. */
  serve(handler: RequestListener): void
  /**
   * Sets the handler of WebSocket upgrades, next to the hub, which handles its own path. Upgrade offers of other paths, and
   * other ones such as HTTP/2, which some clients send with every request, are answered as plain requests.
   */
  serveUpgrades(handler: UpgradeHandler): void
  /** Stops accepting connections. Settles when the running requests are answered, or after `limitMs`. */
  close(limitMs: number): Promise<void>
}

/**
 * Starts to listen.
 * @throws Error that says what to do when the address is in use.
 */
export async function listen(host: string, port: number, variable: string): Promise<Listener> {
  /** Running requests. Once closing has begun, their connections are not kept for another request. */
  const activeResponses = new Set<ServerResponse>()
  const connections = new Set<Socket>()
  let closing = false
  const closeAfterResponse = (response: ServerResponse) => {
    if (!response.headersSent) response.setHeader('Connection', 'close')
  }
  let handler: RequestListener = respondStarting
  let upgrades: UpgradeHandler | undefined
  const isHubAttached = () => server.listenerCount('upgrade') > (upgrades ? 1 : 0)
  const shouldUpgradeCallback = (request: IncomingMessage): boolean => {
    if (!isWebSocketUpgrade(request)) return false
    const path = pathOf(request)
    return isHubPath(path) ? isHubAttached() : (upgrades?.serves(path) ?? false)
  }
  const server = createServer({ ...options, shouldUpgradeCallback } as ServerOptions, (request, response) => {
    activeResponses.add(response)
    response.once('close', () => activeResponses.delete(response))
    if (closing) closeAfterResponse(response)
    if (isReadable(request)) handler(request, response)
    else rejectMalformed(new Error('The request target is not a valid URL.'), request.socket)
  })
  server.on('clientError', rejectMalformed)
  server.on('connection', (connection: Socket) => {
    connections.add(connection)
    connection.once('close', () => connections.delete(connection))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => reject(listenProblem({ host, port, variable }, cause)))
    server.listen({ port, host, backlog: BACKLOG }, resolve)
  })
  // The hub may close the server as well. It is closed once the last connection is closed.
  const closed = new Promise<void>((resolve) => server.once('close', resolve))
  const address = server.address()
  return {
    server,
    port: typeof address === 'object' && address ? address.port : port,
    address: typeof address === 'object' && address ? address.address : host,
    serve: (next) => {
      handler = next
    },
    serveUpgrades: (served) => {
      upgrades = served
      server.on('upgrade', (request, socket, head) => {
        if (served.serves(pathOf(request))) served.handle(request, socket, head)
      })
    },
    async close(limitMs) {
      closing = true
      for (const response of activeResponses) closeAfterResponse(response)
      server.close()
      const idleTimer = setInterval(() => {
        server.closeIdleConnections()
        // Browsers and connection pools open spare connections. Node does not count those as idle.
        for (const connection of connections) if (connection.bytesRead === 0) connection.destroy()
      }, IDLE_CHECK_MS)
      await pTimeout(closed, { milliseconds: limitMs, fallback: () => server.closeAllConnections() })
      clearInterval(idleTimer)
    },
  }
}

/** Responds to a request before the handler exists: with a page that reloads itself to browsers, with JSON to programs. */
function respondStarting({ headers }: IncomingMessage, response: ServerResponse): void {
  const wantsPage = headers.accept?.startsWith('text/html') ?? false
  response.writeHead(503, {
    'Content-Type': wantsPage ? 'text/html; charset=utf-8' : 'application/json',
    'Cache-Control': 'no-store',
    'Retry-After': '1',
    'X-Request-Id': randomUUID(),
    ...(wantsPage && { 'Content-Security-Policy': pagePolicy(), Refresh: '2', Vary: 'Accept' }),
    ...errorHeader('not_ready'),
  })
  response.end(wantsPage ? STARTING_PAGE : '{"error":"The platform is starting. Retry shortly."}')
}

/** Returns whether the request target is valid. Reduces an absolute target, as proxies send it, to path and query. */
function isReadable(request: IncomingMessage): boolean {
  const target = request.url ?? ''
  if (/^[/*]/.test(target)) return true
  if (!URL.canParse(target)) return false
  const { pathname, search } = new URL(target)
  request.url = pathname + search
  return true
}

/** Responds to a malformed request with the error body of the API. Node sends no body by default. */
function rejectMalformed(cause: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || cause.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const statuses: Record<string, number> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 }
  const status = statuses[cause.code ?? ''] ?? 400
  const body = JSON.stringify({ error: STATUS_CODES[status] })
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: application/json\r\n` +
      `X-Request-Id: ${randomUUID()}\r\n` +
      `${ERROR_CODE_HEADER}: ${status === 400 ? 'malformed_request' : errorCodeOf(status)}\r\n` +
      `Content-Length: ${body.length}\r\n\r\n${body}`,
  )
}
