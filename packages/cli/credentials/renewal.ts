import { Failure } from '../failure.ts'
import { OidcError, refreshTokens, type Tokens } from '../login/oidc-provider.ts'
import type { SessionCredential } from './credential.ts'
import type { CredentialStore } from './store.ts'

/** Assumed lifetime of a token if the provider does not name one. */
const DEFAULT_LIFETIME_S = 300

/** Returns the credential to store for tokens. `previous` supplies the fields that the provider did not send again. */
export function sessionCredential(
  tokens: Tokens,
  previous: Pick<SessionCredential, 'issuer' | 'client_id' | 'token_endpoint' | 'refresh_token' | 'use'>,
): SessionCredential {
  const { issuer, client_id, token_endpoint, use } = previous
  const refreshToken = tokens.refresh_token ?? previous.refresh_token
  const lifetimeMs = (tokens.expires_in ?? DEFAULT_LIFETIME_S) * 1000
  return {
    kind: 'session',
    token: use === 'id_token' ? (tokens.id_token ?? tokens.access_token) : tokens.access_token,
    expires_at: new Date(Date.now() + lifetimeMs).toISOString(),
    ...(refreshToken !== undefined && { refresh_token: refreshToken }),
    issuer,
    client_id,
    token_endpoint,
    use,
  }
}

/**
 * Renews an expired credential. Of several concurrent processes, one renews it and the others read the result: most
 * providers invalidate a refresh token on its first use, and some end the sign-in on a second use.
 * @returns undefined without a refresh token
 * @throws Failure when the provider refuses or does not answer
 */
export async function renewCredential(
  store: CredentialStore,
  profileName: string,
  staleCredential: SessionCredential,
  server: string,
): Promise<SessionCredential | undefined> {
  if (staleCredential.refresh_token === undefined) return undefined
  return await store.update(async (file) => {
    const profile = file.profiles[profileName]
    const stored = profile?.credential
    if (!profile || stored?.kind !== 'session') return [file, undefined] as const
    if (stored.token !== staleCredential.token) return [file, stored] as const
    const tokens = await refreshTokens(stored).catch((cause: unknown) => {
      if (!(cause instanceof OidcError)) throw cause
      throw new Failure(
        'not_signed_in',
        `Your sign-in has expired. Sign in again with: wheelhouse login ${server}`,
        {
          cause,
        },
      )
    })
    const credential = sessionCredential(tokens, stored)
    const profiles = { ...file.profiles, [profileName]: { ...profile, credential } }
    return [{ ...file, profiles }, credential] as const
  })
}
