import type { Server as HttpServer, IncomingMessage } from 'node:http'
import { rooms } from '@wheelhouse/protocol'
import { Server, type Socket } from 'socket.io'
import type { ApiKeys } from '../src/accounts/api-key.service.ts'
import type { Auth } from '../src/accounts/auth.ts'
import type { UserPresence } from '../src/accounts/user-presence.ts'
import { alone } from '../src/async.ts'
import type { Bus } from '../src/events/bus.ts'
import { type Relay, startRelay } from '../src/events/relay.ts'
import type { Caller } from '../src/http/endpoint.ts'
import { toAppError, unauthorized } from '../src/http/errors.ts'
import type { Log } from '../src/log.ts'
import type { HubRedis } from '../src/redis.ts'
import { joinHubs } from './adapter.ts'
import { keepAttendance } from './attendance.ts'
import { type CommandParts, registerCommands } from './commands.ts'
import { publishFact } from './feed.ts'
import { guardSlowClients } from './slow-clients.ts'

const MAX_MESSAGE_BYTES = 64 * 1024
/** Finds revoked keys whose hint was lost; well within the second a revocation may take. */
const REVOCATION_POLL_MS = 500
const REVOCATION_OVERLAP_MS = 10_000
/** Timers hold at most about 24 days; longer-lived tokens are looked at again at reconnect. */
const MAX_TIMER_MS = 2 ** 31 - 1

export interface HubParts extends CommandParts {
  readonly auth: Auth
  readonly apiKeys: ApiKeys
  readonly userPresence: UserPresence
  readonly bus: Bus
  readonly databaseUrl: string
  readonly redis: HubRedis | undefined
  readonly allowedOrigins: readonly string[]
  readonly log: Log
}

export interface Hub {
  readonly connections: number
  /** What this node's relay has told. */
  readonly relay: Pick<Relay, 'published' | 'batches'>
  /** Stops relaying and tells every client to reconnect. */
  close(): Promise<void>
}

/** Attaches the hub to an HTTP server. */
export async function startHub(parts: HubParts, http: HttpServer): Promise<Hub> {
  const { auth, apiKeys, bus, databaseUrl, redis, allowedOrigins, log } = parts
  const io = new Server(http, {
    path: '/socket.io/',
    serveClient: false,
    maxHttpBufferSize: MAX_MESSAGE_BYTES,
    allowRequest: (request, decide) => {
      const problem = problemOf(request, { allowedOrigins, oneOfSeveral: redis !== undefined })
      decide(problem, problem === undefined)
    },
    cors: { origin: [...allowedOrigins], credentials: true },
  })
  const others = redis && joinHubs(io, redis)

  const commands = registerCommands(parts)
  const attendance = keepAttendance(io, parts)
  io.use((socket, next) => {
    identify(auth, socket).then(
      (caller) => {
        socket.data.caller = caller
        next()
      },
      (cause) => next(handshakeError(cause)),
    )
  })
  io.on('connection', (socket) => {
    const caller = socket.data.caller as Caller
    socket.join(rooms.user(caller.userId))
    attendance.arrived(caller.userId)
    if (caller.credential.kind === 'api_key') socket.join(rooms.apiKey(caller.credential.id))
    if (caller.credential.expiresAt) disconnectAt(socket, caller.credential.expiresAt)
    commands(socket, caller)
  })

  const revoke = (apiKeyId: string) => io.local.in(rooms.apiKey(apiKeyId)).disconnectSockets(true)
  const unsubscribe = bus.subscribe('credential.revoked', ({ apiKeyId }) => revoke(apiKeyId))
  const revocations = pollRevocations(apiKeys, revoke, log)
  const slowClients = guardSlowClients(io, log)
  const relay: Relay = startRelay({
    ...{ databaseUrl, bus, log },
    publish: (fact) => publishFact(io, fact),
    ...(others && { isBehind: others.isBehind, onDeposed: others.onDisorder }),
  })

  return {
    get connections() {
      return io.engine.clientsCount
    },
    relay,
    async close() {
      clearInterval(revocations)
      clearInterval(slowClients)
      unsubscribe()
      await attendance.close()
      await relay.close()
      // Closing the transport, not the session: clients reconnect to another hub by themselves.
      for (const socket of io.sockets.sockets.values()) socket.conn.close()
      await io.close()
    },
  }
}

/** Why a connection is not even begun; undefined for a good one. */
function problemOf(
  { headers: { origin }, url = '' }: IncomingMessage,
  hub: { allowedOrigins: readonly string[]; oneOfSeveral: boolean },
): string | undefined {
  // CORS does not stop WebSockets from foreign pages; this does.
  if (origin !== undefined && !hub.allowedOrigins.includes(origin))
    return 'Pages of this origin are not allowed'
  // Each request of a long-polling client may reach another hub, which would not know it.
  const polls = new URLSearchParams(url.split('?')[1]).get('transport') === 'polling'
  if (polls && hub.oneOfSeveral)
    return "Several hubs share this address: connect with transports: ['websocket']"
  return undefined
}

/** The credential of a handshake: `auth.token`, the Authorization header, or the dashboard's cookie. */
async function identify(auth: Auth, socket: Socket): Promise<Caller> {
  const { auth: given, headers } = socket.handshake
  if (typeof given.token === 'string') return await auth.authenticateToken(given.token)
  const bearer = /^Bearer (\S+)$/i.exec(headers.authorization ?? '')?.[1]
  if (bearer) return await auth.authenticateToken(bearer)
  const cookie = auth.readSessionCookie(headers.cookie)
  if (!cookie)
    throw unauthorized('A token is required: auth.token, an Authorization header or the session cookie')
  return await auth.authenticateToken(cookie)
}

/** The shape socket.io hands to the client's `connect_error`. */
function handshakeError(cause: unknown): Error & { data: { error: string; status: number } } {
  const { status, message } = toAppError(cause)
  return Object.assign(new Error(message), { data: { error: message, status } })
}

function disconnectAt(socket: Socket, expiresAt: Date): void {
  const leftMs = Math.min(Math.max(0, expiresAt.getTime() - Date.now()), MAX_TIMER_MS)
  const timer = setTimeout(() => socket.disconnect(true), leftMs)
  timer.unref()
  socket.on('disconnect', () => clearTimeout(timer))
}

function pollRevocations(apiKeys: ApiKeys, revoke: (apiKeyId: string) => void, log: Log) {
  let since = new Date(Date.now() - REVOCATION_OVERLAP_MS)
  let failing = false
  const poll = alone(async () => {
    const asked = new Date(Date.now() - REVOCATION_OVERLAP_MS)
    try {
      for (const apiKeyId of await apiKeys.revokedSince(since)) revoke(apiKeyId)
      since = asked
      failing = false
    } catch (cause) {
      if (!failing) log.warn({ err: cause }, 'revoked keys not looked up')
      failing = true
    }
  })
  return setInterval(poll, REVOCATION_POLL_MS)
}
