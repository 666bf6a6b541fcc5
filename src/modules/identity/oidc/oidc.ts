import type { Secrets } from '../../../core/secrets.ts'
import { createDiscovery } from '../tokens/discovery.ts'
import { createTokenVerifier, remoteJwks } from '../tokens/tokens.ts'
import { createUserinfo } from '../tokens/userinfo.ts'
import { rememberVerified } from '../tokens/verified-tokens.ts'
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

/** Sets up the identity provider: the configured one, or the built-in one, which runs in the api process. */
export async function createOidc(deps: {
  config: OidcSettings
  baseUrl: string
  secrets: Secrets
  /** The accounts that the built-in provider offers on its page. */
  accounts: readonly DevAccount[]
  /** Whether other machines can reach the built-in provider. */
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
  const verify = createTokenVerifier({
    issuer: oidcProvider.issuer,
    audience: oidcProvider.audience,
    jwks: builtIn?.localJwks ?? remoteJwks({ discover, jwksUrl: oidcProvider.jwksUrl }),
    ...(!config.idp && { issuerName: DEV_ISSUER_NAME }),
  })
  return {
    builtIn,
    oidcProvider,
    verifyToken: rememberVerified(verify),
    userinfo: createUserinfo({ discover }),
  }
}

/** Imports the built-in provider on demand: its library is a fifth of the code that a process loads. */
async function startBuiltIn(deps: Parameters<typeof createIdentityProvider>[0]) {
  const module = await import('./provider.ts')
  return await module.createIdentityProvider(deps)
}
