import type { z } from 'zod'
import { iso } from '../../core/database/iso.ts'
import { type Endpoint, endpoint } from '../../core/http/endpoint.ts'
import { ClientProfileView, UpdateClientProfile } from './client-profile.schema.ts'
import type { ClientProfiles } from './client-profile.service.ts'

/** Returns the routes of the caller's client profile. */
export function clientProfileEndpoints(deps: { clientProfiles: ClientProfiles }): Endpoint[] {
  const { clientProfiles } = deps
  const access = { role: 'client' } as const
  return [
    endpoint({
      method: 'get',
      path: '/api/client/profile',
      summary: 'Returns your client profile',
      access,
      response: [200, ClientProfileView],
      run: async ({ caller }) => view(await clientProfiles.get(caller.userId)),
    }),
    endpoint({
      method: 'patch',
      path: '/api/client/profile',
      summary: 'Changes fields of your client profile',
      access,
      body: UpdateClientProfile,
      response: [200, ClientProfileView],
      run: async ({ caller, body }) => view(await clientProfiles.update(caller.userId, body)),
    }),
  ]
}

const view = (row: Awaited<ReturnType<ClientProfiles['get']>>): z.infer<typeof ClientProfileView> => ({
  company_name: row.company_name,
  contact_email: row.contact_email,
  phone: row.phone,
  country: row.country,
  vat_id: row.vat_id,
  billing_ready: row.payment_method_at !== null,
  created_at: iso(row.created_at),
})
