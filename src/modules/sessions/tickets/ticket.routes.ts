import { exampleIds } from '@wheelhouse/protocol'
import { z } from 'zod'
import { iso } from '../../../core/database/iso.ts'
import { type Endpoint, endpoint, idParams } from '../../../core/http/endpoint.ts'
import { timestamp } from '../../../core/http/fields.ts'
import type { SessionTickets } from './ticket.service.ts'

/** Body of POST /api/sessions/{id}/ticket. */
const RequestTicket = z.strictObject({
  part: z
    .enum(['control', 'watch'])
    .meta({ description: 'control to operate the robot, watch to observe the session.' }),
})
const TicketView = z
  .object({
    url: z.string().meta({
      description: 'WebSocket URL of the gateway that the robot is connected to.',
      examples: [`wss://gateway.example.com/sessions/${exampleIds.session}/control`],
    }),
    ticket: z.string().meta({
      description: 'The ticket to present when you connect.',
      examples: [`${exampleIds.session}.${exampleIds.operator}.control.-.3.17.1795167060000.q1w2….Zx9…`],
    }),
    expires_at: timestamp.meta({ examples: ['2026-11-20T09:31:00.000Z'] }),
  })
  .meta({
    id: 'Ticket',
    description:
      'Admits one user to one session, once, to control or to watch. It expires after at most one minute. Only the ' +
      'newest 32 tickets of a user are valid.',
  })

export function ticketEndpoints({ sessionTickets }: { sessionTickets: SessionTickets }): Endpoint[] {
  return [
    endpoint({
      method: 'post',
      path: '/api/sessions/{id}/ticket',
      summary: 'Creates a ticket, valid for one minute, to control or watch a session at the gateway',
      access: { scope: 'read' }, // the service requires `drive` for control
      params: idParams('session'),
      body: RequestTicket,
      response: [201, TicketView],
      errors: {
        403: {
          session_operator_required: 'when you request control and are not the operator of the session',
          role_required: 'when you request control without the operator role',
        },
        409: {
          session_not_open: 'when the session is not ACTIVE or PAUSED',
          robot_offline: 'when the robot is offline',
        },
      },
      run: async ({ caller, params, body, http }) => {
        const { url, ticket, expiresAt } = await sessionTickets.issue(caller, params.id, body.part)
        http.set('Cache-Control', 'no-store')
        return { url, ticket, expires_at: iso(expiresAt) }
      },
    }),
  ]
}
