import type { Server as HttpServer, IncomingMessage } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { rooms } from '@wheelhouse/protocol'
import { Server, type Socket } from 'socket.io'
import { singleFlight, stagger } from '../src/core/concurrency/concurrency.ts'
import { toAppError, unauthorized } from '../src/core/errors/errors.ts'
import type { Bus } from '../src/core/events/bus.ts'
import { type OutboxRelay, startOutboxRelay } from '../src/core/events/outbox-relay.ts'
import { requestNetwork } from '../src/core/http/client-address.ts'
import type { Caller } from '../src/core/http/endpoint.ts'
import type { Log } from '../src/core/log.ts'
import { hasScope, isPersonal } from '../src/core/permissions/authorization.ts'
import type { Guard } from '../src/core/process/guard.ts'
import type { HubRedis } from '../src/core/redis.ts'
import {
  API_KEY_PREFIX,
  type ApiKeys,
  type Auth,
  type RevocationSources,
  type UserPresenceRecorder,
  type Users,
  watchRevocations,
} from '../src/modules/identity/index.ts'
import { hasSubscriberSql } from '../src/modules/webhooks/index.ts'
import { joinCluster } from './adapter.ts'
import { createArrivals } from './arrivals.ts'
import { type CommandDeps, createCommands } from './commands.ts'
import { publishEvent } from './event-broadcast.ts'
import { type AuthFailure, limitHandshakes } from './handshakes.ts'
import { batchWrites } from './write-batches.ts'

/** A user counts as absent after three rounds without a connection. */
const ROUND_MS = 5_000
/** Pause after each statement. Users who connect during it share the next one. */
const PAUSE_MS = 100

/**
 * Records which users are connected to this hub: new ones within a tenth of a second, all of them every five seconds.
 * A hub that fails needs no cleanup: its users expire unless they connect to another hub.
 */
function trackUserPresence(io: Server, deps: { userPresence: UserPresenceRecorder; guard: Guard; log: Log }) {
  const { userPresence, guard, log } = deps
  const pendingUserIds = new Set<string>()
  let failing = false

  /** Users who connect while a statement runs, or in the pause after it, are recorded by the next one. */
  const write = singleFlight(async () => {
    try {
      while (pendingUserIds.size > 0) {
        const userIds = [...pendingUserIds]
        pendingUserIds.clear()
        await userPresence.markSeen(userIds)
        await delay(PAUSE_MS)
      }
      failing = false
    } catch (cause) {
      if (!failing) log.warn({ err: cause }, 'failed to record the presence of users')
      failing = true
    }
  })

  const round = guard.every('timer:user-presence', ROUND_MS, () => {
    for (const { data } of io.sockets.sockets.values()) pendingUserIds.add((data.caller as Caller).userId)
    void write()
  })

  return {
    markPresent(userId: string): void {
      pendingUserIds.add(userId)
      void write()
    },
    /** Stops recording; settles after the last statement. */
    async close(): Promise<void> {
      clearInterval(round)
      pendingUserIds.clear()
      await write()
    },
  }
}

const CHECK_MS = 1_000
/** Packets that may wait for one client: a burst of ten thousand robots fits. */
const MAX_WAITING_PACKETS = 50_000
/** Characters that may wait for one client: several pages of a session's log fit. */
const MAX_WAITING_LENGTH = 8 * 1024 * 1024
/** How many checks in a row may find that the transport accepts no packet. */
const MAX_BLOCKED_CHECKS = 10

/** Closes clients that read too slowly. They reconnect and request the events that they missed. */
function guardSlowClients(io: Server, { guard, log }: { guard: Guard; log: Log }): NodeJS.Timeout {
  const blockedChecks = new WeakMap<object, number>()
  return guard.every('timer:slow-clients', CHECK_MS, () => {
    for (const socket of io.sockets.sockets.values()) {
      const { conn } = socket
      // Typed as private, but there is no other measure of the packets that wait for a client.
      const { writeBuffer } = conn as unknown as { writeBuffer: { data?: unknown }[] }
      const waiting = writeBuffer.length
      const blocked = waiting > 0 && !conn.transport.writable ? (blockedChecks.get(conn) ?? 0) + 1 : 0
      blockedChecks.set(conn, blocked)
      if (waiting <= MAX_WAITING_PACKETS && blocked < MAX_BLOCKED_CHECKS && !isLong(writeBuffer)) continue
      log.info({ userId: socket.data.caller?.userId, waiting }, 'closed a slow client')
      conn.close(true) // discards the waiting packets
    }
  })
}

function isLong(packets: readonly { data?: unknown }[]): boolean {
  let length = 0
  for (const { data } of packets) {
    if (typeof data === 'string') length += data.length
    if (length > MAX_WAITING_LENGTH) return true
  }
  return false
}

/**
 * Closes the sockets of revoked API keys, and of users whose permissions have changed. The latter reconnect, as after a
 * network failure, and their commands are authorized again; so no room has to be checked here.
 */
function watchPermissionChanges(
  io: Server,
  deps: RevocationSources & { monotonicMs?: () => number },
): { close(): void } {
  return watchRevocations(deps, {
    keyRevoked: (apiKeyId) => io.local.in(rooms.apiKey(apiKeyId)).disconnectSockets(true),
    permissionsChanged: (user) => cutOffOutdated(io, user),
  })
}

/** Closes the connections of the user's sockets that were admitted before the change. */
function cutOffOutdated(
  io: Server,
  { id, permissions_version }: { id: string; permissions_version: number },
): void {
  for (const socketId of io.sockets.adapter.rooms.get(rooms.user(id)) ?? []) {
    const socket: Socket | undefined = io.sockets.sockets.get(socketId)
    if (!socket) continue
    const caller: Caller = socket.data.caller
    if (caller.permissionsVersion < permissions_version) socket.conn.close()
  }
}

/** Largest message of a client. */
const MAX_MESSAGE_BYTES = 64 * 1024
/** The longest delay of a timer, about 24 days. A token that lives longer is checked again at the next connect. */
const MAX_TIMER_MS = 2 ** 31 - 1
/** How long a connection may take to authenticate; a slow database may need most of it. */
const AUTHENTICATION_LIMIT_MS = 20_000

export interface HubDeps extends CommandDeps {
  readonly auth: Auth
  readonly apiKeys: ApiKeys
  readonly users: Users
  readonly userPresence: UserPresenceRecorder
  readonly bus: Bus
  readonly databaseUrl: string
  readonly redis: HubRedis | undefined
  readonly allowedOrigins: readonly string[]
  readonly trustedProxies: number
  /** Handshakes without a valid credential that a network may begin in a minute; 0 disables the limit. */
  readonly handshakesPerMinute: number
  /** Called for each refused credential. */
  readonly authFailed: (reason: AuthFailure) => void
  readonly log: Log
  readonly guard: Guard
}

export interface Hub {
  /** The number of authenticated sockets. */
  readonly connections: number
  /** The number of connections that are not authenticated yet. */
  readonly pendingHandshakes: number
  /** The events and batches that the outbox relay of this node has published. */
  readonly outboxRelay: Pick<OutboxRelay, 'published' | 'batches'>
  /** Stops the outbox relay and closes all connections; the clients reconnect. Accepted commands are executed first. */
  close(): Promise<void>
}

/** Attaches the hub to an HTTP server. */
export async function startHub(deps: HubDeps, http: HttpServer): Promise<Hub> {
  const { auth, bus, databaseUrl, redis, allowedOrigins, log, guard } = deps
  let draining = false
  const io = new Server(http, {
    path: '/socket.io/',
    serveClient: false,
    // The listener upgrades known paths only. Other ones than the hub's belong to other handlers of this server.
    destroyUpgrade: false,
    maxHttpBufferSize: MAX_MESSAGE_BYTES,
    connectTimeout: AUTHENTICATION_LIMIT_MS,
    allowRequest: guard.handler(
      'socket:request',
      (request: IncomingMessage, decide: (problem: string | undefined, isAllowed: boolean) => void) => {
        const problem = draining
          ? 'This hub is shutting down. Connect again.'
          : (problemOf(request, { allowedOrigins, isClustered: redis !== undefined }) ??
            handshakes.problemOf(request))
        decide(problem, problem === undefined)
      },
      (_request, decide) => decide('Internal error', false),
    ),
    cors: { origin: [...allowedOrigins], credentials: true },
  })
  io.engine.use(guard.handler('socket:protocol', refuseOldProtocol, cutOffRequest))
  batchWrites(io, guard)
  const handshakes = limitHandshakes(io, {
    perMinute: deps.handshakesPerMinute,
    trustedProxies: deps.trustedProxies,
    guard,
    failed: deps.authFailed,
  })
  const cluster = redis && joinCluster(io, redis, guard)

  const commands = createCommands(deps)
  const scheduleExpiry = guard.timer('timer:expiry', (socket: Socket) => socket.disconnect(true), cutOff)
  const disconnectAt = (socket: Socket, expiresAt: Date): void => {
    const leftMs = Math.min(Math.max(0, expiresAt.getTime() - Date.now()), MAX_TIMER_MS)
    const timer = scheduleExpiry(leftMs, socket)
    timer.unref()
    guard.on(socket, 'disconnect', 'socket:disconnect', () => clearTimeout(timer))
  }
  const presenceTracker = trackUserPresence(io, deps)
  const arrived = createArrivals()
  io.use(
    guard.handler(
      'socket:handshake',
      async (socket: Socket, next: (refusal?: Error) => void) => {
        await arrived()
        const credential = credentialOf(auth, socket)
        const identified = await authenticate(
          auth,
          handshakes,
          socket,
          credential,
          deps.trustedProxies,
        ).catch((cause) => {
          handshakes.refused(socket, cause, failureOf(credential))
          return handshakeError(cause)
        })
        if (identified instanceof Error) return next(identified)
        socket.data.caller = identified
        handshakes.accepted(socket)
        next()
      },
      cutOff,
    ),
  )
  guard.on(
    io,
    'connection',
    'socket:connection',
    (socket: Socket) => {
      const caller = socket.data.caller as Caller
      // A connection that leaves the namespace would stay open without a credential.
      guard.on(socket, 'disconnect', 'socket:left', () => socket.conn.close())
      socket.join(rooms.user(caller.userId))
      if (isPersonal(caller) && hasScope(caller.credential, ['read'])) socket.join(rooms.inbox(caller.userId))
      presenceTracker.markPresent(caller.userId)
      if (caller.credential.kind === 'api_key') socket.join(rooms.apiKey(caller.credential.id))
      if (caller.credential.expiresAt) disconnectAt(socket, caller.credential.expiresAt)
      commands.register(socket, caller)
    },
    cutOff,
  )

  const permissionChanges = watchPermissionChanges(io, deps)
  const slowClients = guardSlowClients(io, deps)
  const outboxRelay: OutboxRelay = startOutboxRelay({
    databaseUrl,
    bus,
    log,
    publish: (event) => publishEvent(io, event),
    hasSubscriberSql,
    ...(cluster && { hasBacklog: cluster.isBehind, onLeadershipLost: cluster.onDisorder }),
  })

  return {
    get connections() {
      return io.of('/').sockets.size
    },
    get pendingHandshakes() {
      return handshakes.pending
    },
    outboxRelay,
    async close() {
      draining = true
      permissionChanges.close()
      clearInterval(slowClients)
      // Closes the transport, not the Socket.IO session: clients reconnect to another hub by themselves. The database
      // is not needed for this.
      const sockets = [...io.sockets.sockets.values()]
      const disconnectAll = stagger(sockets, (socket) => socket.conn.close())
      await Promise.all([disconnectAll, presenceTracker.close(), outboxRelay.close()])
      await io.close()
      await commands.idle() // they need the database, which is closed next
    },
  }
}

/** Returns why a connection is refused before its handshake; undefined if it is accepted. */
function problemOf(
  { headers: { origin }, url = '' }: IncomingMessage,
  hub: { allowedOrigins: readonly string[]; isClustered: boolean },
): string | undefined {
  // CORS does not stop WebSockets from foreign pages; this does.
  if (origin !== undefined && !hub.allowedOrigins.includes(origin))
    return 'Connections from this Origin are not allowed. An administrator can allow it.'
  // Each request of a long-polling client may reach another hub, which does not know its session.
  const usesPolling = new URLSearchParams(url.split('?')[1]).get('transport') === 'polling'
  if (usesPolling && hub.isClustered)
    return "Several hubs share this address. Connect with transports: ['websocket']."
  return undefined
}

const UNSUPPORTED_PROTOCOL = JSON.stringify({ code: 5, message: 'Unsupported protocol version' })

/**
 * Refuses clients of Socket.IO 2 (EIO=3) as Engine.IO does over long polling. It refuses them late: over a WebSocket after the
 * upgrade, where the client sees a broken connection.
 */
function refuseOldProtocol(request: IncomingMessage, _response: unknown, next: () => void): void {
  if (new URLSearchParams(request.url?.split('?')[1]).get('EIO') === '4') return next()
  request.socket.end(
    [
      'HTTP/1.1 400 Bad Request',
      'Connection: close',
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(UNSUPPORTED_PROTOCOL)}`,
      '',
      UNSUPPORTED_PROTOCOL,
    ].join('\r\n'),
  )
}

const cutOffRequest = (request: IncomingMessage): void => void request.socket.destroy()

/** Returns the credential of a handshake: `auth.token`, the Authorization header, or the session cookie. */
function credentialOf(auth: Auth, { handshake }: Socket): string | undefined {
  const { auth: authPayload, headers } = handshake
  if (typeof authPayload.token === 'string') return authPayload.token
  const bearer = /^Bearer (\S+)$/i.exec(headers.authorization ?? '')?.[1]
  return bearer ?? auth.readSessionCookie(headers.cookie)
}

/** Returns the organization that a handshake chooses: `auth.organization`, the header, or with the session cookie that of the console. */
function organizationOf(auth: Auth, { handshake }: Socket, credential: string): string | undefined {
  const { auth: authPayload, headers } = handshake
  if (typeof authPayload.organization === 'string') return authPayload.organization
  return auth.chosenOrganization(headers, credential === auth.readSessionCookie(headers.cookie))
}

/** Authenticates a credential. @throws 401; 429 after too many invalid credentials of a network */
async function authenticate(
  auth: Auth,
  handshakes: ReturnType<typeof limitHandshakes>,
  socket: Socket,
  credential: string | undefined,
  trustedProxies: number,
): Promise<Caller> {
  handshakes.beforeCredential(socket)
  if (!credential)
    throw unauthorized(
      'unauthenticated',
      'A token is required. Send it as auth.token, in the Authorization header or in the session cookie.',
    )
  const address = requestNetwork(socket.request, trustedProxies)
  return await auth.authenticateToken(credential, organizationOf(auth, socket, credential), address)
}

function failureOf(credential: string | undefined): AuthFailure {
  if (!credential) return 'missing'
  return credential.startsWith(API_KEY_PREFIX) ? 'invalid_api_key' : 'invalid_session'
}

/** Returns the error that socket.io sends to the client's `connect_error`. */
function handshakeError(cause: unknown): Error & { data: { error: string; status: number } } {
  const { status, message } = toAppError(cause)
  return Object.assign(new Error(message), { data: { error: message, status } })
}

/** Closes a connection as a network failure does: its client reconnects and requests the events that it missed. */
function cutOff(socket: Socket): void {
  socket.conn.close()
}
