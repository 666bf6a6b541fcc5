import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Log } from '../../core/log.ts'
import type { Guard } from '../../core/process/guard.ts'
import { listenProblem } from '../../core/process/listen-problem.ts'
import type { ObjectStore } from '../../core/storage/object-store.ts'
import { MAX_SAMPLE_BYTES, RECORDER_PATH } from '../../modules/recordings/transport/index.ts'
import type { RecorderFigures, RecorderServices } from './messages.ts'
import type { AcceptUpgrade, LiveSink, RecorderContext } from './recorder-context.ts'
import { MemoryBudget, SegmentUploads, type UploadEvents } from './segment-uploads.ts'
import { createSourceConnection, type SourceConnection } from './source-connection.ts'

/** Segments that are not durable yet, of all streams: more than a minute of a hundred cameras. */
const MAX_QUEUED_BYTES = 256 * 1024 * 1024
/** Gateways and media roles. */
const MAX_SOURCES = 1_000
/** The largest message is one sample, with its header. */
const MAX_MESSAGE_BYTES = MAX_SAMPLE_BYTES + 64 * 1024
const TICK_MS = 1_000
const PING_MS = 10_000

/** Starts a recorder: sources connect to it, and their samples become durable segments. */
export async function startRecorder(deps: {
  nodeId: string
  host: string
  port: number
  services: RecorderServices
  store: ObjectStore
  /** Returns whether a header Authorization is valid. */
  authorize: (header: string | undefined) => boolean
  live: LiveSink
  /** Handles upgrades of other paths than the one of sources. Returns false for a path that it does not know. */
  upgradeOther: (request: IncomingMessage, accept: AcceptUpgrade) => boolean
  guard: Guard
  log: Log
  nowMs: () => number
}) {
  const { guard, log, services, store } = deps
  const connections = new Set<SourceConnection>()
  const stopping = new AbortController()
  const budget = new MemoryBudget(MAX_QUEUED_BYTES)
  const counts = { samples: 0, bytes: 0, segments: 0, failures: 0, gaps: 0 }
  let draining = false
  const uploadDeps = { services, store, budget, guard, log, stopping: stopping.signal }
  const context: Omit<RecorderContext, 'closed'> = {
    services,
    nowMs: deps.nowMs,
    nodeId: deps.nodeId,
    guard,
    counts,
    live: deps.live,
    createUploads: (ids, events) => new SegmentUploads(uploadDeps, ids, counted(events)),
    onGap: () => {
      counts.gaps++
    },
    report: (cause) => log.error({ err: cause }, 'a recording stream failed; its source opens it again'),
  }

  const counted = (events: UploadEvents): UploadEvents => ({
    ...events,
    stored: (segment) => {
      counts.segments++
      events.stored(segment)
    },
    paused: (reason) => {
      if (reason !== null) counts.failures++
      events.paused(reason)
    },
  })

  function connect(webSocket: WebSocket): void {
    const closed = () => connections.delete(connection)
    const connection = createSourceConnection(webSocket, { ...context, closed })
    connections.add(connection)
  }

  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
  })
  const server = createServer((_request, response) => response.writeHead(426).end())
  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const refuse = (status: string) => socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`)
    if (draining) return refuse('503 Service Unavailable')
    if (!deps.authorize(request.headers.authorization)) return refuse('401 Unauthorized')
    const accept: AcceptUpgrade = (use) => sockets.handleUpgrade(request, socket, head, use)
    if (request.url === RECORDER_PATH) {
      if (connections.size >= MAX_SOURCES) return refuse('503 Service Unavailable')
      return accept(connect)
    }
    if (!deps.upgradeOther(request, accept)) refuse('404 Not Found')
  }
  guard.on(server, 'upgrade', 'recorder:upgrade', upgrade, (_request, socket) => socket.destroy())
  guard.on(server, 'clientError', 'recorder:client-error', (_error: Error, socket: Duplex) =>
    socket.destroy(),
  )
  const port = await listenOn(server, deps)
  const timers = [
    guard.every('timer:recorder-segments', TICK_MS, () => {
      for (const connection of connections) connection.tick()
    }),
    guard.every('timer:recorder-pings', PING_MS, () => {
      for (const connection of connections) connection.ping()
    }),
  ]

  return {
    port,
    figures: (liveReaders: number): RecorderFigures => ({
      ...counts,
      liveReaders,
      sources: connections.size,
      streams: [...connections].reduce((sum, { streams }) => sum + streams, 0),
    }),
    /** Asks the camera of a topic for a keyframe. */
    requestKeyframe(sessionId: string, topic: string): void {
      for (const connection of connections) connection.requestKeyframe(sessionId, topic)
    },
    /** Sends the sources elsewhere, and makes everything durable. The caller limits its time. */
    async drain(): Promise<void> {
      draining = true
      for (const connection of connections) connection.announceEnd()
      await Promise.allSettled([...connections].map((connection) => connection.drain()))
    },
    close(): void {
      stopping.abort()
      for (const timer of timers) clearInterval(timer)
      for (const connection of connections) connection.terminate()
      server.close()
      server.closeAllConnections()
    },
  }
}
export type RunningRecorder = Awaited<ReturnType<typeof startRecorder>>

async function listenOn(
  server: ReturnType<typeof createServer>,
  { host, port }: { host: string; port: number },
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const refuse = (cause: Error) => reject(listenProblem({ host, port, variable: 'RECORDER_PORT' }, cause))
  server.once('error', refuse).listen(port, host, resolve)
  await promise
  server.off('error', refuse)
  return (server.address() as AddressInfo).port
}
