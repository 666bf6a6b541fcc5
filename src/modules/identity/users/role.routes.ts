import { idOf } from '@wheelhouse/protocol'
import { z } from 'zod'
import { type Endpoint, endpoint } from '../../../core/http/endpoint.ts'
import { credentialOf } from '../../../core/permissions/authorization.ts'
import type { Roles } from './role.service.ts'

const role = z.enum(['client', 'operator']).meta({ examples: ['operator'] })
const userRoleParams = z.strictObject({
  id: idOf('operator').meta({ description: 'The id of the user.' }),
  role,
})
const admin = { role: 'admin' } as const

/** Creates the endpoints of roles: users drop their own roles, admins remove and restore roles. */
export function roleEndpoints({ roles }: { roles: Roles }): Endpoint[] {
  return [
    endpoint({
      method: 'delete',
      path: '/api/auth/roles/{role}',
      summary: 'Drops one of your roles. You can add it again',
      access: {},
      params: z.strictObject({ role }),
      response: [204],
      errors: {
        404: { not_found: 'when you do not have the role' },
        409: { role_in_use: 'when you have open or scheduled sessions in the role, or robots' },
      },
      run: ({ caller, params }) => roles.drop(caller.userId, params.role, credentialOf(caller)),
    }),
    endpoint({
      method: 'delete',
      path: '/api/admin/users/{id}/roles/{role}',
      summary: 'Removes a role of a user, who cannot add it again. Open sessions continue',
      access: admin,
      params: userRoleParams,
      response: [204],
      errors: { 404: { not_found: 'when the user does not exist, or does not have the role' } },
      run: ({ caller, params }) => roles.remove(caller.userId, params.id, params.role, credentialOf(caller)),
    }),
    endpoint({
      method: 'post',
      path: '/api/admin/users/{id}/roles/{role}',
      summary: 'Restores a role that an admin removed from a user',
      access: admin,
      params: userRoleParams,
      response: [204],
      errors: { 404: { not_found: 'when the user does not exist, or the role was not removed' } },
      run: ({ caller, params }) => roles.restore(caller.userId, params.id, params.role, credentialOf(caller)),
    }),
  ]
}
