import { randomUUID } from 'node:crypto'
import { createLocalJWKSet, importJWK, SignJWT } from 'jose'
import type { Context, Middleware } from 'koa'
import koaMount from 'koa-mount'
import { Provider } from 'oidc-provider'
import { forbidden } from '../../../core/errors/errors.ts'
import { problemPages } from '../../../core/http/html-page.ts'
import { isLoopback } from '../../../core/http/loopback.ts'
import type { Secrets } from '../../../core/secrets.ts'
import type { KeySource } from '../tokens/tokens.ts'
import { type DevAccount, DevEmail, devAccountClaims } from './dev-account.ts'
import { loadOrCreateSigningKey, publicJwk, SIGNING_ALGORITHM } from './provider-keys.ts'
import { DASHBOARD_CLIENT_ID, DEV_AUDIENCE } from './provider-names.ts'
import { providerSettings, TOKEN_LIFETIME_SECONDS } from './provider-settings.ts'
import { signInPage } from './sign-in-page.ts'

const MOUNT_PATH = '/idp'

/**
 * Creates an OpenID Connect provider for development, mounted in the api under `/idp`. It accepts any e-mail address
 * without a password, so it refuses to run in production.
 *
 * Its signing key is a file in `dataDir`. All other state is in this process's memory, so a sign-in must begin and end
 * at the same api process.
 */
export async function createIdentityProvider(deps: {
  baseUrl: string
  dataDir: string
  secrets: Secrets
  production: boolean
  accounts: readonly DevAccount[]
  /** Whether other machines can connect. The pages then show a warning. */
  insecure?: boolean
  report: (cause: unknown) => void
}) {
  if (deps.production) throw new Error('The built-in identity provider does not run in production')
  const issuer = deps.baseUrl + MOUNT_PATH
  const signingKey = await loadOrCreateSigningKey(deps.dataDir)
  const accounts = deps.accounts.map((account) => ({ ...account, email: DevEmail.parse(account.email) }))
  const cookieKeys = [deps.secrets.sign('idp-cookies', issuer)]
  const settings = providerSettings({ ...deps, mountPath: MOUNT_PATH, signingKey, cookieKeys, accounts })
  const provider = new Provider(issuer, settings)
  const insecure = deps.insecure === true
  const pages = signInPage({ provider, mountPath: MOUNT_PATH, accounts, insecure })
  provider.on('server_error', (_http, cause) => deps.report(cause))

  return {
    issuer,
    audience: DEV_AUDIENCE,
    clientId: DASHBOARD_CLIENT_ID,
    jwksUrl: `${issuer}/jwks`,
    /** The accounts that the sign-in page offers. */
    accounts,
    /** The keys for a token verifier in the same process. */
    localJwks: createLocalJWKSet({ keys: [publicJwk(signingKey)] }) as KeySource,
    middleware: providerMiddleware(provider, new URL(deps.baseUrl), pages, deps.report),

    /** Signs an access token like the one that a sign-in of this user at the dashboard results in. */
    async issueDevToken(user: { email: string; name?: string; expiresInSeconds?: number }): Promise<string> {
      const subject = DevEmail.parse(user.email)
      const claims = { ...devAccountClaims(accounts, subject), ...(user.name && { name: user.name }) }
      const now = Math.floor(Date.now() / 1000)
      return await new SignJWT({ ...claims, jti: randomUUID(), client_id: DASHBOARD_CLIENT_ID })
        .setProtectedHeader({ alg: SIGNING_ALGORITHM, typ: 'at+jwt', kid: signingKey.kid })
        .setSubject(subject)
        .setIssuer(issuer)
        .setAudience(DEV_AUDIENCE)
        .setIssuedAt(now)
        .setExpirationTime(now + (user.expiresInSeconds ?? TOKEN_LIFETIME_SECONDS))
        .sign(await importJWK(signingKey, SIGNING_ALGORITHM))
    },
  }
}
function providerMiddleware(
  provider: Provider,
  base: URL,
  pages: Middleware,
  report: (cause: unknown) => void,
): Middleware {
  const problems = problemPages(report)
  const protocol = koaMount(MOUNT_PATH, provider)
  return async (http, next) => {
    if (http.path !== MOUNT_PATH && !http.path.startsWith(`${MOUNT_PATH}/`)) return await next()
    requireOwnHost(http, base)
    // The provider reads cookies from the context of the parent application, which has no cookie keys. This replaces
    // them with the cookies of a context that has the provider's keys.
    http.cookies = provider.createContext(http.req, http.res).cookies
    await problems(http, async () => pages(http, async () => protocol(http, next)))
  }
}

/**
 * Rejects requests under other host names. Otherwise DNS rebinding would let a foreign page use this provider, which
 * requires no password.
 */
function requireOwnHost(http: Context, base: URL): void {
  if (http.hostname !== base.hostname && !isLoopback(http.hostname)) {
    throw forbidden(
      'host_not_allowed',
      'The built-in identity provider answers only under its own address. Open that address.',
    )
  }
}
