import type { Secrets } from '../../../core/secrets.ts'
import { createDiscovery } from '../tokens/discovery.ts'
import { createTokenVerifier, remoteJwks } from '../tokens/tokens.ts'
import { createUserinfo } from '../tokens/userinfo.ts'
import type { DevAccount } from './dev-account.ts'
import type { createIdentityProvider } from './provider.ts'
import { CLI_CLIENT_ID, DASHBOARD_CLIENT_ID, DEV_AUDIENCE, DEV_ISSUER_NAME } from './provider-names.ts'

export interface OidcSettings {
  /** The configured OIDC provider. Undefined: the built-in one. */
  readonly idp:
    | {
        readonly issuer: string
        readonly audience: string
        readonly jwksUrl: string | undefined
        readonly clientId: string | undefined
        readonly clientSecret: string | undefined
        readonly cliClientId: string | undefined
      }
    | undefined
  readonly roles: readonly string[]
  readonly dataDir: string
  readonly production: boolean
}

/** Who vouches for people: the configured provider, or the built-in one, in this process or in the api's. */
export async function createOidc(deps: {
  config: OidcSettings
  baseUrl: string
  secrets: Secrets
  /** People whom the built-in provider offers on its page. */
  accounts: readonly DevAccount[]
  /** Other machines can use the built-in one. */
  insecure?: boolean
  report: (cause: unknown) => void
}) {
  const { config, baseUrl } = deps
  const { dataDir, production } = config
  const builtIn =
    config.idp || !config.roles.includes('api')
      ? undefined
      : await startBuiltIn({ ...deps, dataDir, production })
  const oidcProvider = config.idp ?? {
    issuer: builtIn?.issuer ?? `${baseUrl}/idp`,
    audience: DEV_AUDIENCE,
    jwksUrl: `${baseUrl}/idp/jwks`,
    clientId: DASHBOARD_CLIENT_ID,
    clientSecret: undefined,
    cliClientId: CLI_CLIENT_ID,
  }
  const discover = createDiscovery({ issuer: oidcProvider.issuer })
  const verifyToken = createTokenVerifier({
    issuer: oidcProvider.issuer,
    audience: oidcProvider.audience,
    jwks: builtIn?.localJwks ?? remoteJwks({ discover, jwksUrl: oidcProvider.jwksUrl }),
    ...(!config.idp && { issuerName: DEV_ISSUER_NAME }),
  })
  return { builtIn, oidcProvider, verifyToken, userinfo: createUserinfo({ discover }) }
}

/** Loaded only where it is needed: its library is a fifth of what a process loads. */
async function startBuiltIn(deps: Parameters<typeof createIdentityProvider>[0]) {
  const module = await import('./provider.ts')
  return await module.createIdentityProvider(deps)
}
