import { idOf, OrganizationRole } from '@wheelhouse/protocol'
import { z } from 'zod'
import { iso } from '../../core/database/iso.ts'
import { conflict, notFound } from '../../core/errors/errors.ts'
import { type Caller, type Endpoint, endpoint, idParams } from '../../core/http/endpoint.ts'
import { line, timestamp } from '../../core/http/fields.ts'
import { type Domains, txtNameOf } from './domain.service.ts'
import type { ScimTokens } from './scim-token.service.ts'

const TOKENS = '/api/organizations/{id}/scim-tokens'
const DOMAINS = '/api/organizations/{id}/domains'
const MAPPINGS = '/api/organizations/{id}/role-mappings'

const ScimTokenView = z
  .object({
    id: idOf('scimToken'),
    name: z.string().meta({ examples: ['Entra'] }),
    created_at: timestamp,
    last_used_at: timestamp.nullable(),
  })
  .meta({ id: 'ScimToken', description: 'A token that an identity provider provisions members with.' })

const CreatedScimToken = ScimTokenView.extend({
  token: z.string().meta({ examples: ['scim_7mB…4Qw'] }),
}).meta({ id: 'CreatedScimToken', description: 'A new SCIM token, including the token itself.' })

const CreateRoleMapping = z
  .strictObject({
    name: line(255).meta({ examples: ['Robot operators'] }),
    role: OrganizationRole.nullish().meta({ examples: ['operator'] }),
    group_id: idOf('group').nullish(),
  })
  .refine(({ role, group_id }) => role != null || group_id != null, 'must be given, or a role')

const RoleMappingView = z
  .object({
    id: idOf('roleMapping'),
    name: z.string().meta({ examples: ['Robot operators'] }),
    role: OrganizationRole.nullable().meta({ examples: ['operator'] }),
    group_id: idOf('group').nullable(),
  })
  .meta({
    id: 'RoleMapping',
    description: 'The role, and the group of robots, of people in a group of the identity provider.',
  })

const DOMAIN = /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/
const AddDomain = z.strictObject({
  domain: z
    .string()
    .max(253)
    .meta({ examples: ['example.com'] })
    .transform((text) => text.trim().toLowerCase())
    .refine((text) => DOMAIN.test(text), 'must be a domain such as example.com'),
})

const DomainView = z
  .object({
    id: idOf('domain'),
    domain: z.string().meta({ examples: ['example.com'] }),
    txt_name: z.string().meta({ examples: ['_wheelhouse.example.com'] }),
    txt_value: z.string().meta({ examples: ['wheelhouse-verification=5f0c…9a'] }),
    verified_at: timestamp.nullable(),
  })
  .meta({ id: 'OrganizationDomain', description: 'A domain, and the TXT record that verifies it.' })

const domainParams = z.strictObject({ id: idOf('organization'), domain_id: idOf('domain') })

/**
 * Returns the organization of a route whose settings a caller changes: the one that the request acts for.
 * @throws 404 for another one, 409 for a personal one
 */
export function requireTeam({ organization, userId }: Caller, id: string): string {
  if (id.toLowerCase() !== organization.id) throw notFound('Organization')
  if (organization.id === userId)
    throw conflict('personal_organization', 'A personal organization has no single sign-on. Create a team.')
  return organization.id
}

export const teamErrors = {
  personal_organization: 'when the organization is a personal one',
} as const
const limitErrors = {
  ...teamErrors,
  organization_limit_reached: 'when the organization has as many of these as it may have',
} as const

/** Creates the endpoints of domains, SCIM tokens and role mappings. */
export function provisioningEndpoints({
  scimTokens,
  domains,
}: {
  scimTokens: ScimTokens
  domains: Domains
}): Endpoint[] {
  const access = { action: 'sign_in.manage' } as const
  return [
    endpoint({
      method: 'get',
      path: DOMAINS,
      list: true,
      summary: 'Lists the domains of the organization, by name',
      access,
      params: idParams('organization'),
      response: [200, z.object({ domains: z.array(DomainView) })],
      errors: { 409: teamErrors },
      run: async ({ caller, params }) => ({
        domains: (await domains.list(requireTeam(caller, params.id))).map(domainView),
      }),
    }),
    endpoint({
      method: 'post',
      path: DOMAINS,
      summary: 'Adds a domain, which a TXT record verifies',
      access,
      params: idParams('organization'),
      body: AddDomain,
      response: [201, DomainView],
      errors: { 409: { ...limitErrors, domain_exists: 'when the organization has the domain already' } },
      run: async ({ caller, params, body }) =>
        domainView(await domains.add(requireTeam(caller, params.id), body.domain)),
    }),
    endpoint({
      method: 'post',
      path: `${DOMAINS}/{domain_id}/verify`,
      summary: 'Verifies a domain by its TXT record',
      access,
      params: domainParams,
      response: [200, DomainView],
      errors: {
        409: {
          ...teamErrors,
          domain_not_verified: 'when the TXT record does not have the value',
          domain_taken: 'when another organization has verified the domain',
        },
        503: { dns_unavailable: 'when the name servers of the domain do not answer' },
      },
      run: async ({ caller, params }) =>
        domainView(await domains.verify(requireTeam(caller, params.id), caller.userId, params.domain_id)),
    }),
    endpoint({
      method: 'delete',
      path: `${DOMAINS}/{domain_id}`,
      summary: 'Removes a domain; members stay',
      access,
      params: domainParams,
      response: [204],
      errors: { 409: teamErrors },
      run: async ({ caller, params }) =>
        domains.remove(requireTeam(caller, params.id), caller.userId, params.domain_id),
    }),
    endpoint({
      method: 'get',
      path: TOKENS,
      list: true,
      summary: 'Lists the SCIM tokens of the organization, newest first',
      access,
      params: idParams('organization'),
      response: [200, z.object({ scim_tokens: z.array(ScimTokenView) })],
      errors: { 409: teamErrors },
      run: async ({ caller, params }) => ({
        scim_tokens: (await scimTokens.list(requireTeam(caller, params.id))).map(tokenView),
      }),
    }),
    endpoint({
      method: 'post',
      path: TOKENS,
      summary: 'Creates a SCIM token. Only this response contains the token',
      access,
      params: idParams('organization'),
      body: z.strictObject({ name: line(100).meta({ examples: ['Entra'] }) }),
      response: [201, CreatedScimToken],
      errors: { 409: limitErrors },
      run: async ({ caller, params, body }) => {
        const created = await scimTokens.create(requireTeam(caller, params.id), caller.userId, body.name)
        return { ...tokenView(created), token: created.token }
      },
    }),
    endpoint({
      method: 'delete',
      path: `${TOKENS}/{token_id}`,
      summary: 'Revokes a SCIM token immediately',
      access,
      params: z.strictObject({ id: idOf('organization'), token_id: idOf('scimToken') }),
      response: [204],
      errors: { 409: teamErrors },
      run: async ({ caller, params }) =>
        scimTokens.revoke(requireTeam(caller, params.id), caller.userId, params.token_id),
    }),
    endpoint({
      method: 'get',
      path: MAPPINGS,
      list: true,
      summary: 'Lists what groups of the identity provider mean in the organization, by name',
      access,
      params: idParams('organization'),
      response: [200, z.object({ role_mappings: z.array(RoleMappingView) })],
      errors: { 409: teamErrors },
      run: async ({ caller, params }) => ({
        role_mappings: (await scimTokens.mappings(requireTeam(caller, params.id))).map(mappingView),
      }),
    }),
    endpoint({
      method: 'post',
      path: MAPPINGS,
      summary: 'Maps a group of the identity provider to a role, a group of robots, or both',
      access,
      params: idParams('organization'),
      body: CreateRoleMapping,
      response: [201, RoleMappingView],
      errors: {
        404: { not_found: 'when the organization or the group does not exist, or you may not see it' },
        409: { ...limitErrors, mapping_exists: 'when there is a mapping for the name' },
      },
      run: async ({ caller, params, body }) =>
        mappingView(await scimTokens.addMapping(requireTeam(caller, params.id), body)),
    }),
    endpoint({
      method: 'delete',
      path: `${MAPPINGS}/{mapping_id}`,
      summary: 'Removes a role mapping',
      access,
      params: z.strictObject({ id: idOf('organization'), mapping_id: idOf('roleMapping') }),
      response: [204],
      errors: { 409: teamErrors },
      run: async ({ caller, params }) =>
        scimTokens.removeMapping(requireTeam(caller, params.id), params.mapping_id),
    }),
  ]
}

const domainView = (row: Awaited<ReturnType<Domains['list']>>[number]) => ({
  id: row.id,
  domain: row.domain,
  txt_name: txtNameOf(row.domain),
  txt_value: row.txt_value,
  verified_at: iso(row.verified_at),
})

const tokenView = (row: Awaited<ReturnType<ScimTokens['list']>>[number]) => ({
  id: row.id,
  name: row.name,
  created_at: iso(row.created_at),
  last_used_at: iso(row.last_used_at),
})

const mappingView = (row: Awaited<ReturnType<ScimTokens['mappings']>>[number]) => ({
  id: row.id,
  name: row.name,
  role: row.role,
  group_id: row.group_id,
})
