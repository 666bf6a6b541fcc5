import { z } from 'zod'
import { iso } from '../db/iso.ts'
import { type Endpoint, endpoint, IdParams } from '../http/endpoint.ts'
import { timestamp } from '../http/fields.ts'
import type { SessionTickets } from './ticket.service.ts'

/** Body of POST /api/sessions/{id}/ticket. */
const RequestTicket = z.strictObject({ part: z.enum(['control', 'watch']) })
const TicketView = z.object({ url: z.string(), ticket: z.string(), expires_at: timestamp })

export function ticketEndpoints({ sessionTickets }: { sessionTickets: SessionTickets }): Endpoint[] {
  return [
    endpoint({
      method: 'post',
      path: '/api/sessions/{id}/ticket',
      summary: 'Issues a ticket, good for a minute, to control or watch a session at the gateway',
      access: {},
      params: IdParams,
      body: RequestTicket,
      answer: [201, TicketView],
      refusals: {
        403: 'control is for the operator of the session alone',
        409: 'the session is not ACTIVE or PAUSED, or its robot is offline',
      },
      run: async ({ caller, params, body, http }) => {
        const { url, ticket, expiresAt } = await sessionTickets.issue(caller, params.id, body.part)
        http.set('Cache-Control', 'no-store')
        return { url, ticket, expires_at: iso(expiresAt) }
      },
    }),
  ]
}
