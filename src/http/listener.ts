import { createServer, type RequestListener, type Server } from 'node:http'
import { within } from '../async.ts'

const REQUEST_LIMIT_MS = 30_000

/** An HTTP server that listens before what it serves exists, so that port 0 can be part of public URLs. */
export interface Listener {
  readonly server: Server
  readonly port: number
  /** From now on requests go here instead of being answered 503. */
  serve(handler: RequestListener): void
  /** Takes no more connections and settles when the requests in hand are answered, or after `limitMs`. */
  close(limitMs: number): Promise<void>
}

/** @throws Error that says what to do when the address is taken. */
export async function listen(host: string, port: number, variable: string): Promise<Listener> {
  let handler: RequestListener = (_request, response) => {
    response.writeHead(503, { 'Content-Type': 'application/json', 'Retry-After': '1' })
    response.end('{"error":"Starting, try again shortly"}')
  }
  const server = createServer((request, response) => handler(request, response))
  server.requestTimeout = REQUEST_LIMIT_MS
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const taken = cause.code === 'EADDRINUSE'
      const advice = taken ? `it is in use; end the other program or set ${variable}` : cause.message
      reject(new Error(`Cannot listen on ${host}:${port}: ${advice}`, { cause }))
    })
    server.listen(port, host, resolve)
  })
  const address = server.address()
  return {
    server,
    port: typeof address === 'object' && address ? address.port : port,
    serve: (next) => {
      handler = next
    },
    async close(limitMs) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeIdleConnections()
      await within(limitMs, 'requests still open', closed).catch(() => server.closeAllConnections())
    },
  }
}
