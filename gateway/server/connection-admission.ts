import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import type { ErrorCode } from '@wheelhouse/protocol'
import { TokenBucket } from '../../src/core/concurrency/token-bucket.ts'
import type { RobotTokens } from '../../src/modules/robots/index.ts'
import type { Ticket, TicketPart, Tickets } from '../../src/modules/sessions/index.ts'
import type { GatewayConnection } from '../base/connection.ts'
import { ParticipantConnection } from '../participants/participant-connection.ts'
import type { Revocations } from '../participants/permissions.ts'
import { RobotConnection } from '../robots/robot-connection.ts'
import { respond } from './http-routes.ts'

const BEARER_PROTOCOL = 'bearer.'
/** Used tickets that are remembered until they expire. Beyond it, new connections are refused. */
const MAX_USED_TICKETS = 50_000

/** The response to an upgrade that is refused. */
interface Refusal {
  readonly status: string
  readonly code: ErrorCode
  readonly error: string
  readonly headers?: Readonly<Record<string, string>>
}
export type UpgradeDecision = { connection: GatewayConnection; subprotocol: string } | Refusal

const refused = (status: string, code: ErrorCode, error: string): Refusal => ({ status, code, error })
const unauthorized = (code: ErrorCode, error: string) => refused('401 Unauthorized', code, error)
const forbidden = (code: ErrorCode, error: string) => refused('403 Forbidden', code, error)
const unavailable = (code: ErrorCode, error: string) => refused('503 Service Unavailable', code, error)
const tooManyConnects = (waitMs: number): Refusal => ({
  ...refused(
    '429 Too Many Requests',
    'rate_limited',
    'This robot connects too often. Retry after the time in Retry-After.',
  ),
  headers: { 'Retry-After': String(Math.ceil(waitMs / 1_000)) },
})

/** Decides upgrades synchronously, from the request only: asynchronous upgrades are a source of crashes. */
export function createConnectionAdmission(deps: {
  tokens: RobotTokens
  tickets: Tickets
  revocations: Revocations
  /** Called for a ticket that is refused because of a revocation. */
  onRevokedTicket: () => void
  allowedOrigins: readonly string[]
  /** Limits robots, by token. 0 for no limit. */
  connectsPerMinute: number
  isDraining: () => boolean
  clockMs: () => number
}) {
  const { tokens, tickets, revocations, onRevokedTicket, allowedOrigins, isDraining, clockMs } = deps
  const connectLimit = createConnectLimit({ perMinute: deps.connectsPerMinute, clockMs })
  const used = createUsedTickets()

  /** Applies the checks for all connections; returns the offered credential, or a refusal. */
  function credential(req: HttpRequest): { token: string; subprotocol: string } | Refusal {
    if (isDraining()) return unavailable('not_ready', 'This gateway restarts. Connect to another one.')
    const origin = req.getHeader('origin')
    if (origin !== '' && !allowedOrigins.includes(origin))
      return forbidden(
        'origin_not_allowed',
        'Connections from this Origin are not allowed. An administrator can allow it.',
      )
    const offered = req
      .getHeader('sec-websocket-protocol')
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== '')
    // Browsers require one of the offered protocols in the response: the token only if there is no other.
    const subprotocol = offered.find((entry) => !entry.startsWith(BEARER_PROTOCOL)) ?? offered[0] ?? ''
    return { token: bearerToken(req.getHeader('authorization'), offered), subprotocol }
  }

  return {
    robot(req: HttpRequest): UpgradeDecision {
      const offered = credential(req)
      if ('status' in offered) return offered
      const identity = tokens.read(offered.token)
      if (!identity)
        return unauthorized(
          'robot_token_invalid',
          'A valid robot token is required. Rotate the token of the robot if it is lost.',
        )
      const robotId = req.getParameter(0)
      if (robotId === undefined || identity.robotId !== robotId) {
        return forbidden(
          'robot_token_mismatch',
          'The token belongs to another robot. Use the token of this robot.',
        )
      }
      // By token, so that an old token of this robot does not use up the limit of the new one.
      const waitMs = connectLimit.take(`${robotId}:${identity.tokenVersion}`)
      if (waitMs > 0) return tooManyConnects(waitMs)
      // The id of the path: a substring of the token would retain the whole header in memory.
      const connection = new RobotConnection(robotId, identity.tokenVersion, clockMs())
      return { connection, subprotocol: offered.subprotocol }
    },

    participant(req: HttpRequest, part: TicketPart): UpgradeDecision {
      const offered = credential(req)
      if ('status' in offered) return offered
      const ticket = tickets.read(offered.token)
      if (!ticket)
        return unauthorized(
          'ticket_invalid',
          'A valid ticket is required. Get a new one: a ticket expires after a minute.',
        )
      if (ticket.sessionId !== req.getParameter(0) || ticket.part !== part) {
        return forbidden(
          'ticket_mismatch',
          'The ticket is for another session, or for another part in it. Get a new one.',
        )
      }
      if (revocations.isRevoked(ticket)) {
        onRevokedTicket()
        return unauthorized(
          'ticket_revoked',
          'The permissions behind this ticket have ended or changed. Get a new one.',
        )
      }
      const verdict = used.take(ticket)
      if (verdict === 'used')
        return unauthorized('ticket_used', 'The ticket was used already. Get a new one.')
      if (verdict === 'full')
        return unavailable('overloaded', 'Too many connections at once. Try again shortly.')
      return { connection: new ParticipantConnection(ticket, clockMs()), subprotocol: offered.subprotocol }
    },
  }
}
export type ConnectionAdmission = ReturnType<typeof createConnectionAdmission>

function bearerToken(authorization: string, offered: readonly string[]): string {
  if (/^bearer /i.test(authorization)) return authorization.slice('bearer '.length).trim()
  return offered.find((entry) => entry.startsWith(BEARER_PROTOCOL))?.slice(BEARER_PROTOCOL.length) ?? ''
}

/** Remembers the tickets that were used here, until they expire. */
function createUsedTickets() {
  const expiries = new Map<string, number>()
  return {
    take({ nonce, expiresAt }: Ticket): 'new' | 'used' | 'full' {
      if (expiries.has(nonce)) return 'used'
      if (expiries.size >= MAX_USED_TICKETS) {
        const now = Date.now()
        for (const [old, expiryMs] of expiries) if (expiryMs <= now) expiries.delete(old)
        if (expiries.size >= MAX_USED_TICKETS) return 'full'
      }
      expiries.set(nonce, expiresAt.getTime())
      return 'new'
    },
  }
}

/** Refuses an upgrade. */
export function refuse(res: HttpResponse, { status, code, error, headers }: Refusal): void {
  const challenge = status.startsWith('401') ? { 'WWW-Authenticate': 'Bearer' } : {}
  respond(res, status, code, error, { ...challenge, ...headers })
}

/** Credentials that are remembered; of more than that, the ones that connected last. */
const MAX_REMEMBERED = 100_000
const MINUTE_MS = 60_000

/**
 * Limits how often each credential may connect: a token bucket of `perMinute` connects that refills within a minute. It
 * bounds the load of a robot that reconnects in a loop, and lets a whole fleet reconnect at once. 0 disables it.
 */
function createConnectLimit({ perMinute, clockMs }: { perMinute: number; clockMs: () => number }) {
  /** Ordered by the last connect, the oldest first. */
  const buckets = new Map<string, TokenBucket>()

  function forgetOld(nowMs: number): void {
    for (const [key, { takenAtMs }] of buckets) {
      if (nowMs - takenAtMs < MINUTE_MS && buckets.size <= MAX_REMEMBERED) return
      buckets.delete(key) // refilled by now
    }
  }

  return {
    /** Takes one connect; returns 0, or the milliseconds until the next connect is allowed. */
    take(key: string): number {
      if (perMinute === 0) return 0
      const nowMs = clockMs()
      const bucket = buckets.get(key) ?? new TokenBucket({ burst: perMinute, refillMs: MINUTE_MS }, nowMs)
      const waitMs = bucket.take(nowMs)
      if (waitMs > 0) return waitMs
      buckets.delete(key)
      buckets.set(key, bucket)
      forgetOld(nowMs)
      return 0
    },
  }
}
