import { exampleIds } from '@wheelhouse/protocol'
import { z } from 'zod'
import { iso } from '../../../core/database/iso.ts'
import { type Endpoint, endpoint, idParams } from '../../../core/http/endpoint.ts'
import { timestamp } from '../../../core/http/fields.ts'
import { connectedUser } from './authentication.ts'
import type { FoxgloveTickets } from './foxglove-ticket.ts'
import { chooseServed, type SessionSource } from './session-source.ts'

const FoxgloveAddress = z
  .object({
    url: z.string().meta({
      description: 'WebSocket address for Foxglove or Lichtblick, with a ticket.',
      examples: [`wss://hub.example.com/api/sessions/${exampleIds.session}/foxglove?ticket=4f0c….Zx9…`],
    }),
    expires_at: timestamp.meta({ examples: ['2026-11-20T09:31:00.000Z'] }),
  })
  .meta({
    id: 'FoxgloveAddress',
    description:
      'An address that opens a session in Foxglove: live while the session is open, afterwards its recording. Connect within a ' +
      'minute. Only the newest 32 tickets of a user are valid.',
  })

/** Returns the route that creates addresses for Foxglove. */
export function foxgloveEndpoints(deps: {
  readonly tickets: FoxgloveTickets
  readonly ticketStore: { nextNumber(userId: string): Promise<number> }
  readonly source: SessionSource
  /** The public origin of the api. */
  readonly baseUrl: string
}): Endpoint[] {
  const { tickets, ticketStore, source, baseUrl } = deps
  return [
    endpoint({
      method: 'post',
      path: '/api/sessions/{id}/foxglove',
      summary: 'Creates an address, valid for one minute, that opens a session in Foxglove or Lichtblick',
      access: { scope: 'read' },
      params: idParams('session'),
      response: [201, FoxgloveAddress],
      errors: {
        404: { not_found: 'when the session is over and has no recording' },
        409: { session_not_open: 'when the session has not begun' },
      },
      run: async ({ caller, params, http }) => {
        chooseServed(await source.forFoxglove(params.id, caller))
        const { userId, organization, permissionsVersion, apiKeyId, endsAt } = connectedUser(caller)
        const number = await ticketStore.nextNumber(userId)
        const { text, expiresAt } = tickets.issue({
          sessionId: params.id,
          userId,
          organizationId: organization.id,
          apiKeyId,
          permissionsVersion,
          number,
          endsAt,
        })
        http.set('Cache-Control', 'no-store')
        const address = `${baseUrl.replace(/^http/, 'ws')}/api/sessions/${params.id}/foxglove`
        return { url: `${address}?ticket=${text}`, expires_at: iso(expiresAt) }
      },
    }),
  ]
}
