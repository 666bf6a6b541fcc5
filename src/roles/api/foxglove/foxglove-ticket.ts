import type { Secrets } from '../../../core/secrets.ts'

const PURPOSE = 'foxglove-ticket'
/** How long a client may take to connect with a ticket. */
const TICKET_LIFETIME_MS = 60_000

/** One user's permission to open one session in Foxglove. */
export interface FoxgloveTicket {
  readonly sessionId: string
  readonly userId: string
  /** The organization that the user acts for. */
  readonly organizationId: string
  /** The API key that requested the ticket. The connection ends with it. */
  readonly apiKeyId: string | undefined
  /** `users.permissions_version` at the time of issue. */
  readonly permissionsVersion: number
  /** Number of the ticket among all tickets of the user. Only the newest ones are valid. */
  readonly number: number
  /** When the credential expires that requested the ticket. The connection ends then. */
  readonly endsAt: Date | undefined
}

const NONE = '-'
const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
const COUNT = '0|[1-9]\\d{0,14}'
const TICKET = new RegExp(
  `^((${UUID})\\.(${UUID})\\.(${UUID})\\.(${UUID}|-)\\.(${COUNT})\\.(${COUNT})\\.(${COUNT}|-)\\.(${COUNT}))\\.([\\w-]{43})$`,
)

/**
 * Issues and verifies tickets for Foxglove, which cannot send headers:
 * `<session id>.<user id>.<organization id>.<API key id or ->.<permissions version>.<number>.<end of the credential or ->.<expiry>.<signature>`,
 * with times in Unix milliseconds. A client that loses its connection may use its ticket again within the minute.
 */
export function createFoxgloveTickets({ secrets, now }: { secrets: Secrets; now: () => Date }) {
  return {
    issue(ticket: FoxgloveTicket): { text: string; expiresAt: Date } {
      const { sessionId, userId, organizationId, apiKeyId, permissionsVersion, number, endsAt } = ticket
      const lifetimeEndMs = now().getTime() + TICKET_LIFETIME_MS
      const expiryMs = Math.min(lifetimeEndMs, endsAt?.getTime() ?? lifetimeEndMs)
      const claims = [
        sessionId,
        userId,
        organizationId,
        apiKeyId ?? NONE,
        permissionsVersion,
        number,
        endsAt?.getTime() ?? NONE,
        expiryMs,
      ].join('.')
      return { text: `${claims}.${secrets.sign(PURPOSE, claims)}`, expiresAt: new Date(expiryMs) }
    },

    /** Returns undefined for a ticket that is forged, malformed or expired. */
    read(text: string): FoxgloveTicket | undefined {
      const match = TICKET.exec(text)
      if (!match) return undefined
      const [, claims, sessionId, userId, organizationId, apiKeyId, version, number, end, expiry, signature] =
        match as unknown as string[]
      if (!secrets.verify(PURPOSE, claims as string, signature as string)) return undefined
      if (Number(expiry) <= now().getTime()) return undefined
      return {
        sessionId: sessionId as string,
        userId: userId as string,
        organizationId: organizationId as string,
        apiKeyId: apiKeyId === NONE ? undefined : apiKeyId,
        permissionsVersion: Number(version),
        number: Number(number),
        endsAt: end === NONE ? undefined : new Date(Number(end)),
      }
    },
  }
}
export type FoxgloveTickets = ReturnType<typeof createFoxgloveTickets>
