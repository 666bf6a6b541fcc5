import type { Db } from '../../../core/database/tables.ts'
import { conflict, forbidden } from '../../../core/errors/errors.ts'
import type { Caller } from '../../../core/http/endpoint.ts'
import { TOKEN_TOLERANCE_MS } from '../../identity/index.ts'
import type { SessionQueries } from '../record/session-queries.ts'
import type { TicketStore } from './ticket.store.ts'
import type { TicketPart, Tickets } from './ticket.ts'

export interface IssuedTicket {
  /** Where to connect: the gateway node that holds the robot. */
  readonly url: string
  readonly ticket: string
  readonly expiresAt: Date
}

/** Who may drive or watch a session over the gateway, and where. */
export function createSessionTickets(deps: {
  db: Db
  queries: SessionQueries
  tickets: Tickets
  ticketStore: TicketStore
}) {
  const { db, queries, tickets, ticketStore } = deps

  /** Public WebSocket origin of the node that holds a robot; undefined while none does. */
  async function nodeOf(robotId: string): Promise<string | undefined> {
    const node = await db
      .selectFrom('robot_presence')
      .innerJoin('gateway_nodes', 'gateway_nodes.id', 'robot_presence.node_id')
      .select('gateway_nodes.url')
      .where('robot_presence.robot_id', '=', robotId)
      .where('robot_presence.connected', '=', true)
      .where('gateway_nodes.draining', '=', false) // the robot is on its way to another
      .executeTakeFirst()
    return node?.url
  }

  return {
    /**
     * A ticket for the caller.
     * @throws 404 not theirs to see, 403 control for anybody but the operator, or without the role, 409 the session is
     *   not open or its robot is offline.
     */
    async issue(caller: Caller, sessionId: string, part: TicketPart): Promise<IssuedTicket> {
      const session = await queries.get(caller, sessionId)
      if (part === 'control' && session.operator_id !== caller.userId) {
        throw forbidden(
          'session_operator_required',
          'Only the operator of the session may control its robot. Get a ticket to watch instead.',
        )
      }
      if (part === 'control' && !caller.roles.includes('operator')) {
        throw forbidden('role_required', 'You need the operator role for this.')
      }
      if (session.status !== 'ACTIVE' && session.status !== 'PAUSED') {
        throw conflict(
          'session_not_open',
          'The session is not open. Start it first, or choose an active or paused one.',
        )
      }
      const nodeUrl = await nodeOf(session.robot_id)
      if (nodeUrl === undefined)
        throw conflict('robot_offline', 'The robot is offline. Try again when it is connected.')
      const { userId, credential, permissionsVersion } = caller
      const apiKeyId = credential.kind === 'api_key' ? { apiKeyId: credential.id } : {}
      const number = await ticketStore.nextNumber(userId)
      const claims = { sessionId, userId, part, permissionsVersion, number, ...apiKeyId }
      const { ticket, expiresAt } = tickets.issue(claims, endOf(credential))
      return { url: `${nodeUrl}/sessions/${sessionId}/${part}`, ticket, expiresAt }
    },
  }
}
export type SessionTickets = ReturnType<typeof createSessionTickets>

/** When a credential stops working: a ticket does not outlive it. Session tokens are taken for a moment longer. */
function endOf(credential: Caller['credential']): Date | undefined {
  if (credential.kind === 'api_key') return credential.expiresAt ?? undefined
  return new Date(credential.expiresAt.getTime() + TOKEN_TOLERANCE_MS)
}
