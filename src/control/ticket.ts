import { randomBytes } from 'node:crypto'
import type { Secrets } from '../secrets.ts'

const PURPOSE = 'session-ticket'
const LIFETIME_MS = 60_000
const NONCE_BYTES = 16

/** What a ticket admits to: driving, or looking on. */
export type TicketPart = 'control' | 'watch'

/** One user's admission to one part of one session. */
export interface Admission {
  readonly sessionId: string
  readonly userId: string
  readonly part: TicketPart
  /** The API key that asked for the ticket, if one did: what was opened with it ends with the key. */
  readonly apiKeyId?: string
}

/** What a ticket proves. The nonce is no ticket's but its own, so whoever accepts it may do so once. */
export interface Ticket extends Admission {
  readonly expiresAt: Date
  readonly nonce: string
}

const NO_KEY = '-'
const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
/** The last character of 32 bytes in base64url has two spare bits; only the spelling that `sign` uses is taken. */
const SIGNATURE = '[\\w-]{42}[AEIMQUYcgkosw048]'
const TICKET = new RegExp(
  `^((${UUID})\\.(${UUID})\\.(control|watch)\\.(${UUID}|-)\\.([1-9]\\d{12})\\.([\\w-]{22}))\\.(${SIGNATURE})$`,
)

/**
 * Tickets for the gateway: `<session id>.<user id>.<part>.<API key id or ->.<expiry, Unix ms>.<nonce>.<signature>`,
 * good for a minute. The signature alone decides, so that an upgrade is accepted or refused without the database.
 */
export function createTickets(parts: { secrets: Secrets; now: () => Date }) {
  const { secrets, now } = parts
  return {
    issue({ sessionId, userId, part, apiKeyId = NO_KEY }: Admission): { ticket: string; expiresAt: Date } {
      const expiresAt = new Date(now().getTime() + LIFETIME_MS)
      const nonce = randomBytes(NONCE_BYTES).toString('base64url')
      const claim = [sessionId, userId, part, apiKeyId, expiresAt.getTime(), nonce].join('.')
      return { ticket: `${claim}.${secrets.sign(PURPOSE, claim)}`, expiresAt }
    },

    /** What a ticket proves, or undefined when it proves nothing: forged, malformed or expired. */
    read(ticket: string): Ticket | undefined {
      const match = TICKET.exec(ticket)
      if (!match) return undefined
      const [, claim, sessionId, userId, part, apiKeyId, expiry, nonce, signature] =
        match as unknown as string[]
      if (!secrets.verify(PURPOSE, claim as string, signature as string)) return undefined
      const expiresAt = new Date(Number(expiry))
      if (expiresAt <= now()) return undefined
      return {
        sessionId: sessionId as string,
        userId: userId as string,
        part: part as TicketPart,
        ...(apiKeyId !== NO_KEY && { apiKeyId: apiKeyId as string }),
        expiresAt,
        nonce: nonce as string,
      }
    },
  }
}
export type Tickets = ReturnType<typeof createTickets>
