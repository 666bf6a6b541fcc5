import { randomBytes } from 'node:crypto'
import type { Secrets } from '../../../core/secrets.ts'

const PURPOSE = 'session-ticket'
/** Longest life of a ticket. */
export const TICKET_LIFETIME_MS = 60_000
const NONCE_BYTES = 16

/** What a ticket admits to: driving, or looking on. */
export type TicketPart = 'control' | 'watch'

/** One user's admission to one part of one session. */
export interface TicketClaims {
  readonly sessionId: string
  readonly userId: string
  readonly part: TicketPart
  /** The API key that asked for the ticket, if one did: what was opened with it ends with the key. */
  readonly apiKeyId?: string
  /** `users.permissions_version` when it was issued: a later change of the user's permissions ends it. */
  readonly permissionsVersion: number
  /** Which of its user's tickets it is, counted from 1: only the newest ones are valid. */
  readonly number: number
}

/** What a ticket proves. The nonce is no ticket's but its own, so whoever accepts it may do so once. */
export interface Ticket extends TicketClaims {
  readonly expiresAt: Date
  readonly nonce: string
}

const NO_KEY = '-'
const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
/** A whole number in its one spelling. */
const COUNT = '0|[1-9]\\d{0,14}'
/** The last character of 32 bytes in base64url has two spare bits; only the spelling that `sign` uses is taken. */
const SIGNATURE = '[\\w-]{42}[AEIMQUYcgkosw048]'
const TICKET = new RegExp(
  `^((${UUID})\\.(${UUID})\\.(control|watch)\\.(${UUID}|-)\\.(${COUNT})\\.(${COUNT})\\.([1-9]\\d{12})\\.([\\w-]{22}))\\.(${SIGNATURE})$`,
)

/**
 * Tickets for the gateway, valid for a minute at most:
 * `<session id>.<user id>.<part>.<API key id or ->.<permissions version>.<number>.<expiry, Unix ms>.<nonce>.<signature>`.
 * The signature alone decides about the upgrade; `TicketStore` decides whether the holder is admitted.
 */
export function createTickets(deps: { secrets: Secrets; now: () => Date }) {
  const { secrets, now } = deps
  return {
    /** Issues a ticket that ends after a minute, or at `endsBy` if that is earlier. */
    issue(claims: TicketClaims, endsBy?: Date): { ticket: string; expiresAt: Date } {
      const { sessionId, userId, part, apiKeyId = NO_KEY, permissionsVersion, number } = claims
      const lifetimeEndMs = now().getTime() + TICKET_LIFETIME_MS
      const expiresAt = new Date(Math.min(lifetimeEndMs, endsBy?.getTime() ?? lifetimeEndMs))
      const nonce = randomBytes(NONCE_BYTES).toString('base64url')
      const claim = [
        sessionId,
        userId,
        part,
        apiKeyId,
        permissionsVersion,
        number,
        expiresAt.getTime(),
        nonce,
      ].join('.')
      return { ticket: `${claim}.${secrets.sign(PURPOSE, claim)}`, expiresAt }
    },

    /** What a ticket proves, or undefined when it proves nothing: forged, malformed or expired. */
    read(ticket: string): Ticket | undefined {
      const match = TICKET.exec(ticket)
      if (!match) return undefined
      const [, claim, sessionId, userId, part, apiKeyId, version, number, expiry, nonce, signature] =
        match as unknown as string[]
      if (!secrets.verify(PURPOSE, claim as string, signature as string)) return undefined
      const expiresAt = new Date(Number(expiry))
      if (expiresAt <= now()) return undefined
      return {
        sessionId: sessionId as string,
        userId: userId as string,
        part: part as TicketPart,
        ...(apiKeyId !== NO_KEY && { apiKeyId: apiKeyId as string }),
        permissionsVersion: Number(version),
        number: Number(number),
        expiresAt,
        nonce: nonce as string,
      }
    },
  }
}
export type Tickets = ReturnType<typeof createTickets>
