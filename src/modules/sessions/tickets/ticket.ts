import { randomBytes } from 'node:crypto'
import type { Secrets } from '../../../core/secrets.ts'

const PURPOSE = 'session-ticket'
/** Maximum lifetime of a ticket. */
export const TICKET_LIFETIME_MS = 60_000
const NONCE_BYTES = 16

/** The part of a session that a ticket admits to: `control` for the operator, `watch` for observers. */
export type TicketPart = 'control' | 'watch'

/** One user's admission to one part of one session. */
export interface TicketClaims {
  readonly sessionId: string
  readonly userId: string
  /** The organization that the user acts for. */
  readonly organizationId: string
  readonly part: TicketPart
  /** Whether the user is a service account: who holds control with the ticket is a policy. */
  readonly isProgram?: boolean
  /** API key that requested the ticket, if any. Connections opened with the ticket end with the key. */
  readonly apiKeyId?: string
  /** The same for a sign-in with the provider of an organization. */
  readonly signInId?: string
  /** `users.permissions_version` at the time of issue. A later change of the user's permissions invalidates the ticket. */
  readonly permissionsVersion: number
  /** Number of the ticket among the user's tickets, from 1. Only the newest tickets are valid. */
  readonly number: number
}

/** A verified ticket. The nonce is unique, so that the gateway can accept a ticket only once. */
export interface Ticket extends TicketClaims {
  readonly expiresAt: Date
  readonly nonce: string
}

const NO_KEY = '-'
/** Precedes the id of a sign-in where the ticket has the id of an API key otherwise. */
const SIGN_IN = 's'
const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
/** A whole number without leading zeros. */
const COUNT = '0|[1-9]\\d{0,14}'
/** 32 bytes in base64url. The last character has two unused bits; only the canonical form with zeros matches. */
const SIGNATURE = '[\\w-]{42}[AEIMQUYcgkosw048]'
const TICKET = new RegExp(
  `^((${UUID})\\.(${UUID})\\.(${UUID})\\.(control|watch)(-program)?\\.(${SIGN_IN}?${UUID}|-)\\.(${COUNT})\\.(${COUNT})\\.([1-9]\\d{12})\\.([\\w-]{22}))\\.(${SIGNATURE})$`,
)

/**
 * Issues and verifies tickets for the gateway:
 * `<session id>.<user id>.<organization id>.<part, with -program for a service account>.<id of an API key, s and that of a sign-in, or ->.<permissions version>.<number>.<expiry, Unix ms>.<nonce>.<signature>`.
 * The gateway accepts an upgrade by the signature. `TicketStore` decides whether the holder is admitted.
 */
export function createTickets(deps: { secrets: Secrets; now: () => Date }) {
  const { secrets, now } = deps
  return {
    /** Issues a ticket that expires after one minute, or at `endsBy` if that is earlier. */
    issue(claims: TicketClaims, endsBy?: Date): { ticket: string; expiresAt: Date } {
      const { sessionId, userId, organizationId, part, isProgram = false } = claims
      const { apiKeyId, signInId, permissionsVersion, number } = claims
      const lifetimeEndMs = now().getTime() + TICKET_LIFETIME_MS
      const expiresAt = new Date(Math.min(lifetimeEndMs, endsBy?.getTime() ?? lifetimeEndMs))
      const nonce = randomBytes(NONCE_BYTES).toString('base64url')
      const claim = [
        sessionId,
        userId,
        organizationId,
        isProgram ? `${part}-program` : part,
        apiKeyId ?? (signInId === undefined ? NO_KEY : SIGN_IN + signInId),
        permissionsVersion,
        number,
        expiresAt.getTime(),
        nonce,
      ].join('.')
      return { ticket: `${claim}.${secrets.sign(PURPOSE, claim)}`, expiresAt }
    },

    /** Verifies and parses a ticket. Returns undefined for a forged, malformed or expired one. */
    read(ticket: string): Ticket | undefined {
      const match = TICKET.exec(ticket)
      if (!match) return undefined
      const [
        ,
        claim,
        sessionId,
        userId,
        organizationId,
        part,
        program,
        credential = NO_KEY,
        version,
        number,
        expiry,
        nonce,
        signature,
      ] = match as unknown as string[]
      if (!secrets.verify(PURPOSE, claim as string, signature as string)) return undefined
      const expiresAt = new Date(Number(expiry))
      if (expiresAt <= now()) return undefined
      return {
        sessionId: sessionId as string,
        userId: userId as string,
        organizationId: organizationId as string,
        part: part as TicketPart,
        ...(program !== undefined && { isProgram: true }),
        ...(credential.startsWith(SIGN_IN)
          ? { signInId: credential.slice(SIGN_IN.length) }
          : credential !== NO_KEY && { apiKeyId: credential }),
        permissionsVersion: Number(version),
        number: Number(number),
        expiresAt,
        nonce: nonce as string,
      }
    },
  }
}
export type Tickets = ReturnType<typeof createTickets>
