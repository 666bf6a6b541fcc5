import { z } from 'zod'
import { type Endpoint, endpoint, idParams } from '../../../core/http/endpoint.ts'
import { ApiKeyView, CreateApiKey, CreatedApiKey } from './api-key.schema.ts'
import { type ApiKeys, apiKeyView as view } from './api-key.service.ts'

/** Creates the endpoints of API keys. They require a session, so that a leaked key cannot create another key. */
export function apiKeyEndpoints(deps: { apiKeys: ApiKeys }): Endpoint[] {
  const { apiKeys } = deps
  const access = { sessionOnly: true } as const
  return [
    endpoint({
      method: 'get',
      path: '/api/auth/api-keys',
      list: true,
      summary: 'Lists your API keys, newest first',
      access,
      response: [200, z.object({ api_keys: z.array(ApiKeyView) })],
      run: async ({ caller }) => ({ api_keys: (await apiKeys.list(caller.userId)).map(view) }),
    }),
    endpoint({
      method: 'post',
      path: '/api/auth/api-keys',
      summary: 'Creates an API key. Only this response contains the key',
      access,
      body: CreateApiKey,
      response: [201, CreatedApiKey],
      errors: { 409: { api_key_limit_reached: 'when the account has the maximum number of keys' } },
      run: async ({ caller, body }) => {
        const created = await apiKeys.create(caller.userId, caller.organization.id, body)
        return { ...view(created), key: created.key }
      },
    }),
    endpoint({
      method: 'delete',
      path: '/api/auth/api-keys/{id}',
      summary: 'Revokes an API key immediately and closes its open sockets',
      access,
      params: idParams('apiKey'),
      response: [204],
      run: async ({ caller, params }) => apiKeys.revoke(caller.userId, params.id),
    }),
  ]
}
