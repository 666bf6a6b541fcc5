import { z } from 'zod'
import { notFound } from '../../../core/errors/errors.ts'
import { type Endpoint, endpoint } from '../../../core/http/endpoint.ts'

/** The settings of the identity provider that a command line needs for sign-in. */
export interface CliLogin {
  readonly issuer: string
  readonly audience: string
  readonly cliClientId: string | undefined
}

/** `offline_access` requests a refresh token. The provider decides whether to issue one. */
const SCOPES = ['openid', 'email', 'profile', 'offline_access']

const CliLoginView = z
  .object({
    issuer: z
      .string()
      .meta({ description: 'The OpenID Connect provider.', examples: ['https://login.example'] }),
    client_id: z.string().meta({
      description: 'A public client of the provider that can use the device flow of RFC 8628.',
      examples: ['wheelhouse-cli'],
    }),
    audience: z
      .string()
      .meta({ description: 'The required audience of tokens.', examples: ['https://wheelhouse.example'] }),
    scopes: z.array(z.string()).meta({ examples: [SCOPES] }),
  })
  .meta({ id: 'CliLogin', description: 'The settings with which a command line signs a user in.' })

/** Creates GET /api/auth/cli, which returns the settings with which a command line requests tokens. */
export function cliLoginEndpoint({ oidcProvider }: { oidcProvider: CliLogin }): Endpoint {
  return endpoint({
    method: 'get',
    path: '/api/auth/cli',
    summary: 'Returns the identity provider and the client with which a command line signs a user in',
    access: 'public',
    response: [200, CliLoginView],
    errors: {
      404: {
        cli_sign_in_not_configured:
          'when sign-in from the command line is not set up. Use an API key instead',
      },
    },
    run: async () => {
      const { issuer, audience, cliClientId } = oidcProvider
      if (cliClientId === undefined)
        throw notFound('Sign-in from the command line', 'cli_sign_in_not_configured')
      return { issuer, client_id: cliClientId, audience, scopes: SCOPES }
    },
  })
}
