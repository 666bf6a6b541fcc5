import type { Db } from '../../../core/database/tables.ts'
import { conflict, forbidden } from '../../../core/errors/errors.ts'
import type { Caller } from '../../../core/http/endpoint.ts'
import { endingCredentialOf, requireKeyFor } from '../../../core/permissions/authorization.ts'
import { isGuestOf, isOperatorOf, mayHoldControl } from '../../../core/permissions/session-part.ts'
import { TOKEN_TOLERANCE_MS } from '../../identity/index.ts'
import type { SessionQueries } from '../record/session-queries.ts'
import type { TicketStore } from './ticket.store.ts'
import type { TicketPart, Tickets } from './ticket.ts'

export interface IssuedTicket {
  /** WebSocket URL of the gateway node that the robot is connected to. */
  readonly url: string
  readonly ticket: string
  readonly expiresAt: Date
}

/** Issues tickets to control or watch a session at the gateway. */
export function createSessionTickets(deps: {
  db: Db
  queries: SessionQueries
  tickets: Tickets
  ticketStore: TicketStore
}) {
  const { db, queries, tickets, ticketStore } = deps

  /** Returns the public WebSocket origin of the node that a robot is connected to; undefined while it is offline. */
  async function nodeUrlOf(robotId: string): Promise<string | undefined> {
    const node = await db
      .selectFrom('robot_presence')
      .innerJoin('gateway_nodes', 'gateway_nodes.id', 'robot_presence.node_id')
      .select('gateway_nodes.url')
      .where('robot_presence.robot_id', '=', robotId)
      .where('robot_presence.connected', '=', true)
      .where('gateway_nodes.draining', '=', false) // the robot is reconnecting to another node
      .executeTakeFirst()
    return node?.url
  }

  return {
    /**
     * Issues a ticket to the caller.
     * @throws 404 when the caller may not see the session; 403 when a caller who is not its operator, or does not have the
     *   operator role, requests control; 409 when the session is not open or its robot is offline.
     */
    async issue(caller: Caller, sessionId: string, part: TicketPart): Promise<IssuedTicket> {
      const session = await (part === 'watch' ? queries.watched : queries.get)(caller, sessionId)
      if (part === 'control' && !mayHoldControl(caller, session)) {
        throw forbidden(
          'session_operator_required',
          'You may not control the robot of this session. Request a ticket to watch instead.',
        )
      }
      const asOperator = isOperatorOf(caller, session) || isGuestOf(caller, session)
      if (part === 'control' && asOperator && !caller.roles.includes('operator')) {
        throw forbidden(
          'role_required',
          'Controlling a robot requires the operator role. Add the role in your settings first.',
        )
      }
      if (part === 'control') requireKeyFor(caller, 'sessions.drive')
      if (session.status !== 'ACTIVE' && session.status !== 'PAUSED') {
        throw conflict(
          'session_not_open',
          'The session is not open. Start it first, or choose an active or paused one.',
        )
      }
      const nodeUrl = await nodeUrlOf(session.robot_id)
      if (nodeUrl === undefined)
        throw conflict('robot_offline', 'The robot is offline. Try again when it is connected.')
      const { userId, credential, permissionsVersion, isProgram = false } = caller
      const number = await ticketStore.nextNumber(userId)
      const organizationId = caller.organization.id
      const ending = endingCredentialOf(credential)
      const claims = {
        sessionId,
        userId,
        organizationId,
        part,
        isProgram,
        permissionsVersion,
        number,
        ...ending,
      }
      const { ticket, expiresAt } = tickets.issue(claims, endOf(credential))
      return { url: `${nodeUrl}/sessions/${sessionId}/${part}`, ticket, expiresAt }
    },
  }
}
export type SessionTickets = ReturnType<typeof createSessionTickets>

/** Returns when a credential expires. Adds the clock tolerance with which session tokens are accepted. */
function endOf(credential: Caller['credential']): Date | undefined {
  if (credential.kind === 'api_key') return credential.expiresAt ?? undefined
  return credential.signIn
    ? credential.expiresAt
    : new Date(credential.expiresAt.getTime() + TOKEN_TOLERANCE_MS)
}
