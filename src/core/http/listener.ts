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
import type { Duplex } from 'node:stream'
import { ERROR_CODE_HEADER } from '@wheelhouse/protocol'
import { withTimeout } from '../concurrency/concurrency.ts'
import { errorCodeOf, errorHeader } from '../errors/errors.ts'

/** A request must have arrived completely by then, its headers sooner. */
const REQUEST_LIMIT_MS = 30_000
const HEADERS_LIMIT_MS = 15_000
/**
 * Connections that wait to be accepted, where the system allows as many. Node's own 511 are full at once when the
 * clients of another hub come over; whoever finds them full is silently turned away and tries again after a second.
 */
const BACKLOG = 4_096
/** While the server closes: how soon a connection ends whose request has been answered. */
const IDLE_CHECK_MS = 50

const options: ServerOptions = {
  requestTimeout: REQUEST_LIMIT_MS,
  headersTimeout: HEADERS_LIMIT_MS,
  connectionsCheckingInterval: 1_000,
}

/**
 * The hub's WebSockets, where a hub is, are the only upgrade there is. Any other offer, such as that of HTTP/2,
 * which some clients make with every request, is declined by answering the request.
 */
const isHubUpgrade = ({ headers, url = '' }: IncomingMessage) =>
  /^websocket$/i.test(headers.upgrade ?? '') && url.startsWith('/socket.io/')

/** An HTTP server that listens before what it serves exists, so that port 0 can be part of public URLs. */
export interface Listener {
  readonly server: Server
  readonly port: number
  /** The address that it is bound to, as the operating system reports it. */
  readonly address: string
  /** From now on requests go here instead of being answered 503. */
  serve(handler: RequestListener): void
  /** Takes no more connections and settles when the requests in hand are answered, or after `limitMs`. */
  close(limitMs: number): Promise<void>
}

/** @throws Error that says what to do when the address is taken. */
export async function listen(host: string, port: number, variable: string): Promise<Listener> {
  /** Requests in hand, so that none of their connections is kept for another one once the end has begun. */
  const activeResponses = new Set<ServerResponse>()
  let closing = false
  const closeAfterResponse = (response: ServerResponse) => {
    if (!response.headersSent) response.setHeader('Connection', 'close')
  }
  let handler: RequestListener = (_request, response) => {
    response.writeHead(503, {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-store',
      'Retry-After': '1',
      'X-Request-Id': randomUUID(),
      ...errorHeader('not_ready'),
    })
    response.end('{"error":"Starting, try again shortly"}')
  }
  const shouldUpgradeCallback = (request: IncomingMessage): boolean =>
    isHubUpgrade(request) && server.listenerCount('upgrade') > 0
  const server = createServer({ ...options, shouldUpgradeCallback } as ServerOptions, (request, response) => {
    activeResponses.add(response)
    response.once('close', () => activeResponses.delete(response))
    if (closing) closeAfterResponse(response)
    if (isReadable(request)) handler(request, response)
    else rejectMalformed(new Error('the target is no URL'), request.socket)
  })
  server.on('clientError', rejectMalformed)
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const taken = cause.code === 'EADDRINUSE'
      const advice = taken ? `it is in use; end the other program or set ${variable}` : cause.message
      reject(new Error(`Cannot listen on ${host}:${port}: ${advice}`, { cause }))
    })
    server.listen({ port, host, backlog: BACKLOG }, resolve)
  })
  // Whoever closes the server, as the hub does, it is closed once the last connection is.
  const closed = new Promise<void>((resolve) => server.once('close', resolve))
  const address = server.address()
  return {
    server,
    port: typeof address === 'object' && address ? address.port : port,
    address: typeof address === 'object' && address ? address.address : host,
    serve: (next) => {
      handler = next
    },
    async close(limitMs) {
      closing = true
      for (const response of activeResponses) closeAfterResponse(response)
      server.close()
      const idleTimer = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS)
      await withTimeout(limitMs, 'requests still open', closed).catch(() => server.closeAllConnections())
      clearInterval(idleTimer)
    },
  }
}

/** Whether the target can be read; of one in absolute form, as proxies send it, leaves the path and the query. */
function isReadable(request: IncomingMessage): boolean {
  const target = request.url ?? ''
  if (/^[/*]/.test(target)) return true
  if (!URL.canParse(target)) return false
  const { pathname, search } = new URL(target)
  request.url = pathname + search
  return true
}

/** Answers what is no request with the one body of all errors; by itself Node sends none. */
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
