import { z } from 'zod'
import { notFound } from '../../../core/errors/errors.ts'
import { type Endpoint, endpoint } from '../../../core/http/endpoint.ts'

/** What a command line must know of the identity provider to sign somebody in. */
export interface CliLogin {
  readonly issuer: string
  readonly audience: string
  readonly cliClientId: string | undefined
}

/** `offline_access` asks for a refresh token, which providers give to whom they like. */
const SCOPES = ['openid', 'email', 'profile', 'offline_access']

const CliLoginView = z
  .object({
    issuer: z
      .string()
      .meta({ description: 'The OpenID Connect provider.', examples: ['https://login.example'] }),
    client_id: z.string().meta({
      description: 'A public client there, which may use the device flow of RFC 8628.',
      examples: ['wheelhouse-cli'],
    }),
    audience: z
      .string()
      .meta({ description: 'Whom tokens must be made out to.', examples: ['https://wheelhouse.example'] }),
    scopes: z.array(z.string()).meta({ examples: [SCOPES] }),
  })
  .meta({ id: 'CliLogin', description: 'How a command line signs somebody in.' })

/** GET /api/auth/cli: where and as what a command line asks for tokens. */
export function cliLoginEndpoint({ oidcProvider }: { oidcProvider: CliLogin }): Endpoint {
  return endpoint({
    method: 'get',
    path: '/api/auth/cli',
    summary: 'Returns how a command line signs somebody in: the identity provider and a client there',
    access: 'public',
    response: [200, CliLoginView],
    errors: { 404: { cli_sign_in_not_configured: 'when signing in from a command line is not set up; API keys work' } },
    run: async () => {
      const { issuer, audience, cliClientId } = oidcProvider
      if (cliClientId === undefined)
        throw notFound('Sign-in from the command line', 'cli_sign_in_not_configured')
      return { issuer, client_id: cliClientId, audience, scopes: SCOPES }
    },
  })
}
