import { z } from 'zod'
import { type Endpoint, endpoint, idParams } from '../../../core/http/endpoint.ts'
import { nonEmptyProse } from '../../../core/http/fields.ts'
import { credentialOf } from '../../../core/permissions/authorization.ts'
import type { Suspensions } from './suspension.service.ts'

const access = { role: 'admin' } as const
const params = idParams('operator')

const SuspendUser = z
  .strictObject({
    reason: nonEmptyProse(2_000).meta({
      description: 'The user sees it.',
      examples: ['Two complaints about unsafe driving'],
    }),
  })
  .meta({ id: 'UserSuspension', description: 'Why a user is suspended.' })

/** Creates the endpoints with which admins suspend and restore users. */
export function suspensionEndpoints({ suspensions }: { suspensions: Suspensions }): Endpoint[] {
  return [
    endpoint({
      method: 'post',
      path: '/api/admin/users/{id}/suspend',
      summary: 'Suspends a user, whose credentials, sockets and tickets are refused at once',
      access,
      params,
      body: SuspendUser,
      response: [204],
      errors: {
        404: { not_found: 'when the user does not exist' },
        409: {
          own_account_suspension: 'when the user is yourself',
          user_already_suspended: 'when the user is already suspended',
        },
      },
      run: ({ caller, params: { id }, body }) =>
        suspensions.suspend(caller.userId, id, body.reason, credentialOf(caller)),
    }),
    endpoint({
      method: 'post',
      path: '/api/admin/users/{id}/restore',
      summary: 'Ends the suspension of a user',
      access,
      params,
      response: [204],
      errors: {
        404: { not_found: 'when the user does not exist' },
        409: { user_not_suspended: 'when the user is not suspended' },
      },
      run: ({ caller, params: { id } }) => suspensions.restore(caller.userId, id, credentialOf(caller)),
    }),
  ]
}
