import { z } from 'zod'
import { iso } from '../../core/database/iso.ts'
import { type Endpoint, endpoint, idParams } from '../../core/http/endpoint.ts'
import { line, timestamp } from '../../core/http/fields.ts'
import { requireTeam, teamErrors } from './provisioning.routes.ts'
import { DEFAULT_SESSION_HOURS } from './sign-in.service.ts'
import type { Discover, SignInSettings } from './sign-in-settings.service.ts'

const PATH = '/api/organizations/{id}/sign-in'
/** Scopes that are requested of a provider, and the length of one in characters. */
const MAX_SCOPES = 20
const MAX_SCOPE_LENGTH = 100

const Scopes = z
  .array(
    z
      .string()
      .max(MAX_SCOPE_LENGTH)
      .regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'must be scopes of OAuth'),
  )
  .max(MAX_SCOPES)
  .refine((scopes) => scopes.includes('openid'), 'must contain openid')
const shape = {
  issuer: z
    .url()
    .max(2_000)
    .meta({ examples: ['https://login.example.com'] }),
  client_id: line(255).meta({ examples: ['wheelhouse'] }),
  scopes: Scopes.meta({ examples: [['openid', 'email', 'profile']] }),
  groups_claim: line(255).meta({
    description: 'The claim of the ID token with the names of the groups, which role mappings refer to.',
    examples: ['groups'],
  }),
  creates_members: z.boolean().meta({
    description:
      'Whether a sign-in makes somebody a member. Otherwise people are invited or provisioned first.',
  }),
  enforced: z.boolean().meta({
    description:
      'Whether members must sign in with this provider to act for the organization. Owners need not.',
  }),
  session_hours: z
    .int()
    .min(1)
    .max(720)
    .meta({ description: 'Hours after which a sign-in ends.', examples: [DEFAULT_SESSION_HOURS] }),
}
const SaveSignIn = z.strictObject({
  ...shape,
  client_secret: z
    .string()
    .min(1)
    .max(2_000)
    .optional()
    .meta({ description: 'Needed for another issuer or client. It is never returned.', examples: ['…'] }),
  scopes: shape.scopes.default(['openid', 'email', 'profile']),
  groups_claim: shape.groups_claim.default('groups'),
  creates_members: shape.creates_members.default(true),
  enforced: shape.enforced.default(false),
  session_hours: shape.session_hours.default(DEFAULT_SESSION_HOURS),
})

const SignInView = z
  .object({
    callback_url: z.string().meta({
      description: 'The redirect URI to enter at the provider.',
      examples: ['https://wheelhouse.example/auth/sso/…/callback'],
    }),
    sign_in_url: z
      .string()
      .meta({ description: 'Where members sign in.', examples: ['https://wheelhouse.example/auth/sso/…'] }),
    settings: z
      .object({ ...shape, owner_signed_in_at: timestamp.nullable() })
      .nullable()
      .meta({ description: 'Null without single sign-on.' }),
  })
  .meta({
    id: 'OrganizationSignIn',
    description: 'The identity provider of an organization. Without the secret.',
  })

/** Creates the endpoints of the settings of single sign-on. */
export function signInEndpoints(deps: {
  signInSettings: SignInSettings
  baseUrl: string
  discover: Discover
}): Endpoint[] {
  const { signInSettings, baseUrl, discover } = deps
  const access = { action: 'sign_in.manage' } as const
  const view = async (organizationId: string) => {
    const row = await signInSettings.get(organizationId)
    const sign_in_url = `${baseUrl}/auth/sso/${organizationId}`
    return {
      callback_url: `${sign_in_url}/callback`,
      sign_in_url,
      settings: row
        ? {
            issuer: row.issuer,
            client_id: row.client_id,
            scopes: row.scopes,
            groups_claim: row.groups_claim,
            creates_members: row.creates_members,
            enforced: row.enforced,
            session_hours: row.session_hours ?? DEFAULT_SESSION_HOURS,
            owner_signed_in_at: iso(row.owner_signed_in_at),
          }
        : null,
    }
  }
  return [
    endpoint({
      method: 'get',
      path: PATH,
      summary: 'Returns how members sign in with the identity provider of the organization',
      access,
      params: idParams('organization'),
      response: [200, SignInView],
      errors: { 409: teamErrors },
      run: async ({ caller, params }) => await view(requireTeam(caller, params.id)),
    }),
    endpoint({
      method: 'put',
      path: PATH,
      summary: 'Saves the identity provider of the organization, whose metadata the platform reads first',
      access,
      params: idParams('organization'),
      body: SaveSignIn,
      response: [200, SignInView],
      errors: {
        400: {
          client_secret_required: 'when the issuer or the client is another one, and there is no secret',
        },
        409: {
          ...teamErrors,
          domain_required: 'when the organization has no verified domain',
          issuer_not_usable: 'when the issuer does not answer as a provider',
          issuer_taken: 'when the issuer is that of the platform',
          sign_in_not_used: 'when it is to be enforced, and no owner has signed in with it yet',
        },
      },
      run: async ({ caller, params, body }) => {
        const organizationId = requireTeam(caller, params.id)
        await signInSettings.save(caller, organizationId, body, discover)
        return await view(organizationId)
      },
    }),
    endpoint({
      method: 'delete',
      path: PATH,
      summary: 'Turns single sign-on off, and ends its sign-ins; members stay',
      access,
      params: idParams('organization'),
      response: [204],
      errors: {
        404: { sign_in_not_configured: 'when the organization has no single sign-on' },
        409: teamErrors,
      },
      run: async ({ caller, params }) => signInSettings.remove(caller, requireTeam(caller, params.id)),
    }),
  ]
}
