import { ActionReason, ControlAction, ControlLease, exampleIds } from '@wheelhouse/protocol'
import { z } from 'zod'
import { type Endpoint, endpoint, idParams } from '../../../core/http/endpoint.ts'
import type { ControlLeases } from './control-lease.service.ts'

/** Body of POST /api/sessions/{id}/control. */
export const ChangeControl = z.strictObject({
  action: ControlAction.meta({
    description:
      'offer gives control away, to one user or, without `to`, to everybody who could take over. request asks the holder. accept and deny answer one ' +
      'of them. take_over takes control by right: people from policies, supervisors from operators, owners from all. return gives it ' +
      'back to who had it before. revoke takes it away, so that nobody has it; with a requestId it withdraws your own offer or request.',
  }),
  to: z
    .uuid()
    .optional()
    .meta({ description: 'The user to whom control is offered.', examples: [exampleIds.operator] }),
  requestId: z.uuid().optional().meta({ description: 'The offer or request to accept, deny or withdraw.' }),
  reason: ActionReason.optional().meta({ description: 'Shown with an offer or a request.' }),
})

export function controlLeaseEndpoints({ controlLeases }: { controlLeases: ControlLeases }): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/api/sessions/{id}/control',
      summary: 'Returns who controls the robot of a session, and who wants to',
      access: {},
      params: idParams('session'),
      response: [200, ControlLease],
      run: ({ caller, params }) => controlLeases.get(caller, params.id),
    }),
    endpoint({
      method: 'post',
      path: '/api/sessions/{id}/control',
      summary: 'Offers, requests, takes over, returns or revokes control of the robot of a session',
      access: { scope: 'drive' }, // the service checks the part of the caller
      params: idParams('session'),
      body: ChangeControl,
      response: [200, ControlLease],
      errors: {
        403: { control_not_allowed: 'when your part in the session does not include the action' },
        409: {
          session_not_open: 'when the session is not ACTIVE or PAUSED',
          control_held: 'when you control the robot already',
          control_vacant: 'when nobody controls the robot',
          control_request_closed:
            'when the offer or request has expired, was answered, or control changed hands',
          control_request_limit_reached: 'when too many offers and requests wait',
          control_ineligible: 'when the other user may not control this robot',
          supervisor_busy: 'when you control as many robots as your organization allows',
        },
      },
      run: ({ caller, params, body }) => controlLeases.act(caller, params.id, body),
    }),
  ]
}
