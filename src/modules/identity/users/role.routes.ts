import { idOf } from '@wheelhouse/protocol'
import { z } from 'zod'
import { type Endpoint, endpoint } from '../../../core/http/endpoint.ts'
import type { Roles } from './role.service.ts'

const role = z.enum(['client', 'operator']).meta({ examples: ['operator'] })
const ofUser = z.strictObject({ id: idOf('operator').meta({ description: 'The id of the user.' }), role })
const admin = { role: 'admin' } as const

/** Roles: users drop their own, admins remove them and give them back. */
export function roleEndpoints({ roles }: { roles: Roles }): Endpoint[] {
  return [
    endpoint({
      method: 'delete',
      path: '/api/auth/roles/{role}',
      summary: 'Drops a role of yours; it can be taken again',
      access: {},
      params: z.strictObject({ role }),
      response: [204],
      errors: {
        404: { not_found: 'when you do not have the role' },
        409: { role_in_use: 'when you have open or scheduled sessions in the role, or robots' },
      },
      run: ({ caller, params }) => roles.drop(caller.userId, params.role),
    }),
    endpoint({
      method: 'delete',
      path: '/api/admin/users/{id}/roles/{role}',
      summary: 'Removes a role of a user, who cannot take it again; open sessions go on',
      access: admin,
      params: ofUser,
      response: [204],
      errors: { 404: { not_found: 'when the user does not exist, or does not have the role' } },
      run: ({ caller, params }) => roles.remove(caller.userId, params.id, params.role),
    }),
    endpoint({
      method: 'post',
      path: '/api/admin/users/{id}/roles/{role}',
      summary: 'Gives a role back to a user whom an admin had removed it from',
      access: admin,
      params: ofUser,
      response: [204],
      errors: { 404: { not_found: 'when the user does not exist, or the role was not removed' } },
      run: ({ caller, params }) => roles.restore(caller.userId, params.id, params.role),
    }),
  ]
}
