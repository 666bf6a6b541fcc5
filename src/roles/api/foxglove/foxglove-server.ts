import { randomUUID } from 'node:crypto'
import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import pTimeout from 'p-timeout'
import { type WebSocket, WebSocketServer } from 'ws'
import { waitUntil } from '../../../core/concurrency/concurrency.ts'
import { AppError, badRequest, notFound, toAppError, unavailable } from '../../../core/errors/errors.ts'
import type { UpgradeHandler } from '../../../core/http/listener.ts'
import { requireThreadTime } from '../../../core/http/request-authorization.ts'
import type { Log } from '../../../core/log.ts'
import type { Guard } from '../../../core/process/guard.ts'
import type { ThreadTime } from '../../../core/process/thread-time.ts'
import type { ObjectStore } from '../../../core/storage/object-store.ts'
import type { RevocationSources } from '../../../modules/identity/index.ts'
import { readMcapFile } from '../../../modules/recordings/mcap/index.ts'
import { type AuthenticationDeps, type ConnectedUser, createAuthentication } from './authentication.ts'
import { ClientConnection, type ConnectionSource } from './client-connection.ts'
import { closings } from './closings.ts'
import { createConnections } from './connections.ts'
import { createLiveSessions, type LiveSessionsDeps } from './live-sessions.ts'
import { Playback } from './playback.ts'
import { RecordedChannels } from './recorded-channels.ts'
import { chooseServed, type Served, type SessionRecording, type SessionSource } from './session-source.ts'
import { closeUnreadable } from './unreadable-recording.ts'
import { type FoxgloveProtocol, NS_PER_MS, PROTOCOLS, type TimeRange } from './wire.ts'

/** How long a recording or a session may take to open. */
const OPEN_LIMIT_MS = 20_000

/** Stored recordings, and the list of the users who have read them. */
interface RecordingStore {
  readonly store: Pick<ObjectStore, 'readBytes'>
  /** Records that a user reads a recording. */
  noteDownload(recordingId: string, userId: string, kind: 'foxglove'): Promise<void>
}

type Recording = SessionRecording & { readonly fileKey: string }

/**
 * Opens a recording for a user.
 * @throws ObjectMissingError for a recording that was deleted
 */
async function openPlayback(
  deps: { readonly recordings: RecordingStore; readonly guard: Guard; readonly log: Log },
  opened: { readonly recording: Recording; readonly sessionId: string; readonly userId: string },
): Promise<Playback> {
  const { recordings, guard, log } = deps
  const { recording, sessionId, userId } = opened
  await recordings.noteDownload(recording.id, userId, 'foxglove')
  const file = { key: recording.fileKey, sizeBytes: recording.sizeBytes }
  const reader = await pTimeout(readMcapFile(recordings.store, file), { milliseconds: OPEN_LIMIT_MS })
  const recorded = new RecordedChannels(reader)
  return new Playback({ recorded, range: rangeOf(reader.statistics, recording), sessionId, guard, log })
}

/** Returns the period of a recording: from its first to its last message, or its own when it is empty. */
function rangeOf(
  statistics: { messageCount: bigint; messageStartTime: bigint; messageEndTime: bigint } | undefined,
  { startedAt, endedAt }: Recording,
): TimeRange {
  if (statistics && statistics.messageCount > 0n)
    return { startNs: statistics.messageStartTime, endNs: statistics.messageEndTime }
  const ns = (at: Date) => BigInt(at.getTime()) * NS_PER_MS
  return { startNs: ns(startedAt), endNs: ns(endedAt ?? startedAt) }
}

/** Answers an upgrade with an error, in the form of the API, and ends the connection. */
function refuseUpgrade(socket: Duplex, { status, headers, message }: AppError): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const body = JSON.stringify({ error: message })
  const lines = Object.entries({
    ...headers,
    Connection: 'close',
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    'X-Request-Id': randomUUID(),
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.once('finish', () => socket.destroy())
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
}

/** Largest message of Foxglove. */
const MAX_MESSAGE_BYTES = 64 * 1024
/** Upgrades that are being checked at a time. */
const MAX_PENDING = 200
const UPGRADE_LIMIT_MS = 20_000
const CLOSE_LIMIT_MS = 1_000
const PATH = /^\/api\/sessions\/([^/]+)\/foxglove$/
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export type FoxgloveServerDeps = AuthenticationDeps &
  LiveSessionsDeps &
  RevocationSources & {
    readonly source: SessionSource
    readonly threadTime: ThreadTime
    /** Stored recordings; undefined without storage. */
    readonly recordings: RecordingStore | undefined
  }

interface Admitted {
  readonly user: ConnectedUser
  readonly sessionId: string
  readonly served: Served
  readonly protocol: FoxgloveProtocol
}

/** Serves sessions to Foxglove and Lichtblick: live, or as playback of their recording. */
export function createFoxgloveServer(deps: FoxgloveServerDeps) {
  const { guard, log, source, recordings, threadTime } = deps
  const authenticate = createAuthentication(deps)
  const liveSessions = createLiveSessions(deps)
  const connections = createConnections(deps)
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    handleProtocols: (offered) => preferredOf(offered) ?? false,
  })
  let pending = 0
  let draining = false

  async function admit(request: IncomingMessage): Promise<Admitted> {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://platform')
    const sessionId = PATH.exec(pathname)?.[1]?.toLowerCase() ?? ''
    if (draining) throw unavailable('not_ready', 'This process is ending. Connect again.')
    const protocol = protocolOf(request)
    const user = await authenticate(request, sessionId, searchParams.get('ticket'))
    requireThreadTime(threadTime, user)
    if (!UUID.test(sessionId)) throw notFound('Session')
    const session = await source.forFoxglove(sessionId, user)
    const served = chooseServed(session, searchParams.get('recording')?.toLowerCase())
    if (served.kind === 'recording' && !recordings)
      throw unavailable('not_ready', 'This process has no storage of recordings.')
    return { user, sessionId, served, protocol }
  }

  async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    guard.on(socket, 'error', 'foxglove:upgrade-error', () => socket.destroy())
    if (pending >= MAX_PENDING)
      throw new AppError(503, 'overloaded', 'Too many connections at once. Try again shortly.')
    pending++
    const admission = pTimeout(admit(request), { milliseconds: UPGRADE_LIMIT_MS })
    const admitted = await admission.finally(() => pending--)
    if (socket.destroyed) return
    const release = connections.reserve(admitted.sessionId)
    guard.on(socket, 'close', 'foxglove:released', release)
    const accepted = guard.handler('foxglove:open', (opened: WebSocket) => serve(opened, admitted))
    sockets.handleUpgrade(request, socket, head, accepted)
  }

  /** Connects a client to a source of data. */
  function connect(
    socket: WebSocket,
    { protocol, user }: Admitted,
    data: ConnectionSource,
  ): ClientConnection {
    const onClosed = () => remove()
    const { userId } = user
    const connection = new ClientConnection(socket, {
      protocol,
      guard,
      threadTime,
      userId,
      source: data,
      onClosed,
    })
    const remove = connections.add(connection, user)
    return connection
  }

  async function serveRecording(
    socket: WebSocket,
    admitted: Admitted,
    recording: Extract<Served, { kind: 'recording' }>['recording'],
  ): Promise<void> {
    if (!recordings) throw new Error('recordings are served without storage')
    const { sessionId, user } = admitted
    guard.on(socket, 'error', 'foxglove:error', () => {}) // 'close' follows
    socket.pause() // until the connection has its listeners
    const opened = { recording, sessionId, userId: user.userId }
    const [opening] = await Promise.allSettled([openPlayback({ recordings, guard, log }, opened)])
    // 'close' has passed unheard, so that a connection would stay forever.
    if (socket.readyState === socket.CLOSED) return
    if (opening.status === 'fulfilled') opening.value.start(connect(socket, admitted, opening.value))
    else closeUnreadable(connect(socket, admitted, withoutData), opening.reason, log)
    socket.resume()
  }

  async function serve(socket: WebSocket, admitted: Admitted): Promise<void> {
    const { sessionId, served } = admitted
    if (served.kind === 'recording') return await serveRecording(socket, admitted, served.recording)
    if (served.kind === 'live') {
      const session = liveSessions.get(sessionId, served.logHead)
      return session.add(connect(socket, admitted, session))
    }
    const connection = connect(socket, admitted, withoutData)
    connection.sendStatus('error', 'The recording is not ready yet. Connect again in a minute.')
    connection.close(closings.recordingNotReady)
  }

  const handle = guard.handler('foxglove:upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) =>
    upgrade(request, socket, head).catch((cause) => {
      const error = toAppError(cause)
      if (error.status >= 500 && !(cause instanceof AppError))
        log.warn({ err: cause }, 'a connection of Foxglove could not be opened')
      refuseUpgrade(socket, error)
    }),
  )
  const handler: UpgradeHandler = { serves: (path) => PATH.test(path), handle }
  return {
    ...handler,
    /** The number of connected clients. */
    get connections() {
      return connections.size
    },
    /** Closes all connections. The clients connect again, to another process. */
    async close(): Promise<void> {
      draining = true
      connections.close()
      await waitUntil(() => connections.size === 0, CLOSE_LIMIT_MS)
      connections.end()
      liveSessions.close()
    },
  }
}

/** The source of a connection that is closed at once. */
const withoutData: ConnectionSource = { subscribed() {}, closed() {} }

/** Returns the first supported subprotocol of a client, which offers the one that it prefers first. */
const preferredOf = (offered: Iterable<string>): FoxgloveProtocol | undefined => {
  for (const name of offered) {
    const protocol = PROTOCOLS.find((supported) => supported === name)
    if (protocol) return protocol
  }
  return undefined
}

/** Returns the subprotocol that a client prefers. @throws 400 without a supported one. */
function protocolOf({ headers }: IncomingMessage): FoxgloveProtocol {
  const protocol = preferredOf(
    (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim()),
  )
  if (!protocol) throw badRequest(`Offer one of the WebSocket subprotocols ${PROTOCOLS.join(', ')}.`)
  return protocol
}
