import type { IncomingMessage } from 'node:http'
import { AppError, forbidden, unauthorized } from '../../../core/errors/errors.ts'
import { requestNetwork } from '../../../core/http/client-address.ts'
import type { Caller } from '../../../core/http/endpoint.ts'
import type { RateLimits } from '../../../core/http/rate-limits.ts'
import { type Auth, TOKEN_TOLERANCE_MS } from '../../../modules/identity/index.ts'
import type { FoxgloveTickets } from './foxglove-ticket.ts'

/** The user of a connection, and the credential with which it ends. */
export interface ConnectedUser extends Pick<Caller, 'userId' | 'roles' | 'organization' | 'credential'> {
  readonly permissionsVersion: number
  readonly apiKeyId: string | undefined
  readonly endsAt: Date | undefined
}

export interface AuthenticationDeps {
  readonly auth: Pick<
    Auth,
    'authenticateToken' | 'readSessionCookie' | 'chosenOrganization' | 'callerOfTicket'
  >
  readonly tickets: Pick<FoxgloveTickets, 'read'>
  readonly ticketStore: {
    verdictOf(ticket: {
      sessionId: string
      userId: string
      organizationId: string
      part: 'watch'
      apiKeyId?: string
      permissionsVersion: number
      number: number
    }): Promise<string>
  }
  /** Origins of pages that may use the session cookie. */
  readonly allowedOrigins: readonly string[]
  readonly rateLimits: RateLimits
  readonly trustedProxies: number
}

/** Creates the authentication of upgrades: by ticket, by Bearer token, or by session cookie from an allowed Origin. */
export function createAuthentication(deps: AuthenticationDeps) {
  const { auth, tickets, ticketStore, allowedOrigins, rateLimits, trustedProxies } = deps

  async function byTicket(text: string, sessionId: string): Promise<ConnectedUser> {
    const ticket = tickets.read(text)
    if (!ticket)
      throw unauthorized(
        'ticket_invalid',
        'The ticket is invalid or has expired. POST /api/sessions/{id}/foxglove creates one.',
      )
    if (ticket.sessionId !== sessionId)
      throw forbidden(
        'ticket_mismatch',
        'The ticket belongs to another session. POST /api/sessions/{id}/foxglove creates one for this session.',
      )
    const { apiKeyId, ...claims } = ticket
    const verdict = await ticketStore.verdictOf({ ...claims, part: 'watch', ...(apiKeyId && { apiKeyId }) })
    if (verdict !== 'valid')
      throw unauthorized(
        'ticket_revoked',
        'The permissions behind the ticket have changed. Create a new one.',
      )
    return { ...ticket, ...(await auth.callerOfTicket(ticket)) }
  }

  async function byCredential(request: IncomingMessage): Promise<ConnectedUser> {
    const { headers } = request
    const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1]
    if (bearer !== undefined)
      return connectedUser(
        await auth.authenticateToken(
          bearer,
          auth.chosenOrganization(headers, false),
          requestNetwork(request, trustedProxies),
        ),
      )
    const cookie = auth.readSessionCookie(headers.cookie)
    if (!cookie)
      throw unauthorized(
        'unauthenticated',
        'Send a ticket as ?ticket=, or an Authorization: Bearer header. POST /api/sessions/{id}/foxglove creates a ticket.',
      )
    // A page of another site could open a WebSocket with the cookie of its visitor.
    if (!allowedOrigins.includes(headers.origin ?? ''))
      throw forbidden('origin_not_allowed', 'Connections from this Origin need a ticket.')
    return connectedUser(await auth.authenticateToken(cookie, auth.chosenOrganization(headers, true)))
  }

  /** @throws 401, 403; 429 after too many invalid credentials of a network */
  return async (
    request: IncomingMessage,
    sessionId: string,
    ticket: string | null,
  ): Promise<ConnectedUser> => {
    try {
      return await (ticket === null ? byCredential(request) : byTicket(ticket, sessionId))
    } catch (cause) {
      if (cause instanceof AppError && cause.status === 401)
        await rateLimits.consume({ set() {} }, 'failed-auth', requestNetwork(request, trustedProxies))
      throw cause
    }
  }
}

/** Returns the user of a caller, with the end of the credential. */
export function connectedUser(caller: Caller): ConnectedUser {
  const { userId, roles, organization, permissionsVersion, credential } = caller
  const isKey = credential.kind === 'api_key'
  return {
    userId,
    roles,
    organization,
    credential,
    permissionsVersion,
    apiKeyId: isKey ? credential.id : undefined,
    endsAt: isKey
      ? (credential.expiresAt ?? undefined)
      : new Date(credential.expiresAt.getTime() + TOKEN_TOLERANCE_MS),
  }
}
