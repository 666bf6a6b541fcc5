import { notFound } from '../../core/errors/errors.ts'
import { type Caller, type Endpoint, endpoint, idParams } from '../../core/http/endpoint.ts'
import { scopeOf } from '../../core/permissions/authorization.ts'
import { CreateDataGrant, DataGrantList, DataGrantParams, DataGrantView } from './data-grant.schema.ts'
import type { DataGrants } from './data-grant.service.ts'

const access = { action: 'grants.manage' } as const
const path = '/api/organizations/{id}/grants'
const organizationErrors = {
  404: { not_found: 'when the organization is not the one that you act for' },
} as const

/** Requires that a path names the organization that the request acts for. @throws 404 */
function requireActingFor({ organization }: Caller, id: string): void {
  if (organization.id !== id.toLowerCase()) throw notFound('Organization')
}

/** Returns the routes with which an organization shares the data of its robots. */
export const dataGrantEndpoints = ({ dataGrants }: { readonly dataGrants: DataGrants }): Endpoint[] => [
  endpoint({
    method: 'post',
    path,
    summary: 'Grants another organization read access to data of one of your robots',
    access,
    params: idParams('organization'),
    body: CreateDataGrant,
    response: [201, DataGrantView],
    errors: {
      404: {
        not_found:
          'when you do not act for the organization, it has no such robot, or the other organization does not exist',
      },
      409: {
        grant_exists: 'when the other organization has a grant for this robot',
        organization_limit_reached: 'when one of the two organizations has as many grants as it may have',
      },
    },
    run: async ({ caller, params, body }) => {
      requireActingFor(caller, params.id)
      return await dataGrants.create(scopeOf(caller), body)
    },
  }),
  endpoint({
    method: 'get',
    path,
    list: true,
    summary: 'Lists the access to data of robots that your organization has given and received',
    access,
    params: idParams('organization'),
    response: [200, DataGrantList],
    errors: organizationErrors,
    run: async ({ caller, params }) => {
      requireActingFor(caller, params.id)
      return await dataGrants.list(caller.organization.id)
    },
  }),
  endpoint({
    method: 'delete',
    path: `${path}/{grant_id}`,
    summary: 'Revokes access to data of a robot at once; running downloads end',
    access,
    params: DataGrantParams,
    response: [204],
    errors: { 404: { not_found: 'when the organization is not yours, or has given no such grant' } },
    run: async ({ caller, params }) => {
      requireActingFor(caller, params.id)
      await dataGrants.revoke(scopeOf(caller), params.grant_id)
    },
  }),
]
