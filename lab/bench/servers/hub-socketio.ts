import { App, us_socket_local_port, type WebSocketBehavior } from 'uWebSockets.js'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createShardedAdapter } from '@socket.io/redis-adapter'
import { Redis } from 'ioredis'
import { Server } from 'socket.io'
import { offer, sendReady } from '../../../test/support/processes/rpc.ts'
import { eventOf, type SessionEventRecord } from '../hub/packets.ts'

// The peer: Socket.IO with the adapter of Wheelhouse's hub, and rooms; without users, log and database. With ENGINE=uws
// it is attached to uWebSockets.js, which publishes to rooms by itself.

/** Events emitted at once, as many as Wheelhouse reads from the outbox at a time. */
const BATCH = 500
const BACKLOG = 4_096
/** As the limit of the hub for a client that does not read. */
const MAX_UNREAD_BYTES = 8 * 1024 * 1024

const redis = process.env.REDIS_URL
const usesUws = process.env.ENGINE === 'uws'
const http = createServer()
const io = usesUws ? new Server({ serveClient: false }) : new Server(http, { serveClient: false })
if (redis) {
  io.adapter(createShardedAdapter(new Redis(redis), new Redis(redis), { subscriptionMode: 'static' }))
}

const roomOf = (sessionId: string) => `session:${sessionId}`
const emit = (event: SessionEventRecord) => io.to(roomOf(event.session_id)).emit('session:event', event)

/** Number of entries in the log of every session. */
let entries = 0

io.on('connection', (socket) => {
  socket.on('session:watch', ({ session_id, after = 0 }, answer) => {
    socket.join(roomOf(session_id))
    const events = Array.from({ length: entries - after }, (_, index) =>
      eventOf(session_id, after + index + 1),
    )
    answer({ ok: true, events, head: entries })
  })
  socket.on('emit', (event: SessionEventRecord, answer) => {
    emit(event)
    answer({ ok: true })
  })
})

let prepared: readonly SessionEventRecord[] = []

const handlers = {
  /** Events that `publish` emits. */
  prepare(domainEvents: readonly SessionEventRecord[]): void {
    prepared = domainEvents
  },
  async publish(): Promise<void> {
    for (let start = 0; start < prepared.length; start += BATCH) {
      for (const event of prepared.slice(start, start + BATCH)) emit(event)
      await nextTurn()
    }
  },
  /** Creates a log of this many entries for every session, which `session:watch` returns. */
  createLogs(count: number): void {
    entries = count
  },
}
export type SocketIoPeer = typeof handlers

/** Attaches Socket.IO so that a client beyond the limit is closed, and does not silently lose events. */
function attachToUws(): void {
  const app = App()
  const withLimit = Object.create(app, {
    ws: {
      value: (path: string, behavior: WebSocketBehavior<unknown>) =>
        app.ws(path, { ...behavior, closeOnBackpressureLimit: true }),
    },
    any: { value: app.any.bind(app) },
    publish: { value: app.publish.bind(app) },
  })
  io.attachApp(withLimit, { maxBackpressure: MAX_UNREAD_BYTES } as object)
  app.listen('127.0.0.1', 0, (listenSocket) => {
    if (!listenSocket) throw new Error('cannot listen')
    sendReady(us_socket_local_port(listenSocket))
  })
}

offer(handlers)
if (usesUws) attachToUws()
else {
  http.listen({ host: '127.0.0.1', port: 0, backlog: BACKLOG }, () => {
    sendReady((http.address() as AddressInfo).port)
  })
}
