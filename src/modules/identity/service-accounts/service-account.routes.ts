import { idOf } from '@wheelhouse/protocol'
import { z } from 'zod'
import { iso } from '../../../core/database/iso.ts'
import { notFound } from '../../../core/errors/errors.ts'
import { type Caller, type Endpoint, endpoint, idParams } from '../../../core/http/endpoint.ts'
import { ApiKeyView, CreatedApiKey } from '../api-keys/api-key.schema.ts'
import { type ApiKeyRow, apiKeyView, isEnded, unusedDays } from '../api-keys/api-key.service.ts'
import {
  ChangeServiceAccount,
  CreateServiceAccount,
  CreateServiceKey,
  RotateServiceKey,
  ServiceAccountView,
} from './service-account.schema.ts'
import type { ServiceAccountRow, ServiceAccounts } from './service-account.service.ts'

const access = { action: 'service_accounts.manage' } as const
const ACCOUNTS = '/api/organizations/{id}/service-accounts'
const ACCOUNT = `${ACCOUNTS}/{account_id}`
const KEYS = `${ACCOUNT}/keys`
const AccountParams = z.strictObject({ id: idOf('organization'), account_id: idOf('serviceAccount') })
const KeyParams = AccountParams.extend({ key_id: idOf('apiKey') })
const foreignScope = { scope_required: 'when your API key does not have all scopes of the new key' } as const

/** Creates the endpoints of service accounts and their keys. */
export function serviceAccountEndpoints(deps: {
  serviceAccounts: ServiceAccounts
  now: () => Date
}): Endpoint[] {
  const { serviceAccounts } = deps
  return [
    endpoint({
      method: 'get',
      path: ACCOUNTS,
      list: true,
      summary: 'Lists the service accounts of the organization, newest first',
      access,
      params: idParams('organization'),
      response: [200, z.object({ service_accounts: z.array(ServiceAccountView) })],
      run: async ({ caller, params }) => ({
        service_accounts: (await serviceAccounts.list(ownOrganization(caller, params))).map(view),
      }),
    }),
    endpoint({
      method: 'post',
      path: ACCOUNTS,
      summary: 'Creates a service account for a program',
      access,
      params: idParams('organization'),
      body: CreateServiceAccount,
      response: [201, ServiceAccountView],
      errors: {
        409: {
          service_account_limit_reached: 'when the organization has the maximum number of service accounts',
        },
      },
      run: async ({ caller, params, body }) => {
        ownOrganization(caller, params)
        return view(await serviceAccounts.create(caller, body))
      },
    }),
    endpoint({
      method: 'patch',
      path: ACCOUNT,
      summary: 'Changes a service account',
      access,
      params: AccountParams,
      body: ChangeServiceAccount,
      response: [200, ServiceAccountView],
      run: async ({ caller, params, body }) => {
        ownOrganization(caller, params)
        return view(await serviceAccounts.change(caller, params.account_id, body))
      },
    }),
    endpoint({
      method: 'delete',
      path: ACCOUNT,
      summary: 'Removes a service account and revokes its keys immediately',
      access,
      params: AccountParams,
      response: [204],
      run: async ({ caller, params }) => {
        ownOrganization(caller, params)
        await serviceAccounts.remove(caller, params.account_id)
      },
    }),
    ...keyEndpoints(deps),
  ]
}

function keyEndpoints(deps: { serviceAccounts: ServiceAccounts; now: () => Date }): Endpoint[] {
  const { serviceAccounts, now } = deps
  const limit = { api_key_limit_reached: 'when the service account has the maximum number of keys' } as const
  return [
    endpoint({
      method: 'get',
      path: KEYS,
      list: true,
      summary: 'Lists the API keys of a service account, newest first',
      access,
      params: AccountParams,
      response: [200, z.object({ api_keys: z.array(ApiKeyView) })],
      run: async ({ caller, params }) => {
        const rows = await serviceAccounts.keys(ownOrganization(caller, params), params.account_id)
        return { api_keys: rows.map((row) => keyView(row, now())) }
      },
    }),
    endpoint({
      method: 'post',
      path: KEYS,
      summary: 'Creates an API key of a service account. Only this response contains the key',
      access,
      params: AccountParams,
      body: CreateServiceKey,
      response: [201, CreatedApiKey],
      errors: { 403: foreignScope, 409: limit },
      run: async ({ caller, params, body }) => {
        ownOrganization(caller, params)
        const created = await serviceAccounts.createKey(caller, params.account_id, body)
        return { ...apiKeyView(created), key: created.key }
      },
    }),
    endpoint({
      method: 'post',
      path: `${KEYS}/{key_id}/rotate`,
      summary: 'Creates the successor of an API key; both work until the overlap ends',
      access,
      params: KeyParams,
      body: RotateServiceKey,
      response: [201, CreatedApiKey],
      errors: {
        403: foreignScope,
        409: { ...limit, api_key_not_rotatable: 'when the key has ended or was rotated before' },
      },
      run: async ({ caller, params, body }) => {
        ownOrganization(caller, params)
        const { account_id, key_id } = params
        const created = await serviceAccounts.rotateKey(caller, account_id, key_id, body.overlapHours)
        return { ...apiKeyView(created), key: created.key }
      },
    }),
    endpoint({
      method: 'delete',
      path: `${KEYS}/{key_id}`,
      summary: 'Revokes an API key of a service account immediately and closes its open sockets',
      access,
      params: KeyParams,
      response: [204],
      run: async ({ caller, params }) => {
        ownOrganization(caller, params)
        await serviceAccounts.revokeKey(caller, params.account_id, params.key_id)
      },
    }),
  ]
}

/** Returns the organization of the path, which is that of the request. @throws 404 for any other, known or not */
function ownOrganization({ organization }: Caller, { id }: { readonly id: string }): string {
  if (id.toLowerCase() !== organization.id) throw notFound('Organization')
  return organization.id
}

const view = (row: ServiceAccountRow): ServiceAccountView => ({
  ...row,
  created_at: iso(row.created_at),
  last_used_at: iso(row.last_used_at),
})

const keyView = (row: ApiKeyRow, at: Date): ApiKeyView => ({
  ...apiKeyView(row),
  ...(!isEnded(row, at) && { unused_days: unusedDays(row, at) }),
})
