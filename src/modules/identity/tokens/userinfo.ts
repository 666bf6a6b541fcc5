import { AppError, unavailable } from '../../../core/errors/errors.ts'
import type { ProviderMetadata } from './discovery.ts'
import { profileClaims } from './tokens.ts'

/** How long an identity provider may take to answer with a profile. */
const TIMEOUT_MS = 5_000

type ProfileClaims = ReturnType<typeof profileClaims>

/**
 * Creates a client for the provider's userinfo endpoint.
 *
 * The client returns undefined if the provider has no such endpoint or rejects the token. Providers reject ID tokens and
 * access tokens that are only for the platform's audience.
 * @throws 503 if the provider is unreachable, 502 if it fails or its response is about another user.
 */
export function createUserinfo(deps: { discover: () => Promise<ProviderMetadata> }) {
  return async (token: string, subject: string): Promise<ProfileClaims | undefined> => {
    const { userinfo_endpoint: url } = await deps.discover()
    if (!url) return undefined
    const response = await requestUserinfo(url, token)
    if (response.status === 401 || response.status === 403) return undefined
    const claims = response.ok ? await response.json().catch(() => undefined) : undefined
    if (typeof claims !== 'object' || claims === null) {
      throw new AppError(
        502,
        'identity_provider_error',
        'The identity provider returned no valid response about your account. Try again shortly.',
      )
    }
    if (!('sub' in claims) || claims.sub !== subject) {
      throw new AppError(
        502,
        'identity_provider_error',
        'The identity provider returned another account. Sign in again.',
      )
    }
    return profileClaims(claims)
  }
}
export type Userinfo = ReturnType<typeof createUserinfo>

async function requestUserinfo(url: string, token: string): Promise<Response> {
  try {
    // Redirects are rejected, so that the token is sent only to the published endpoint.
    return await fetch(url, {
      headers: { Authorization: `Bearer ${token}`, Accept: 'application/json' },
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
  } catch (cause) {
    throw unavailable(
      'identity_provider_unavailable',
      'The identity provider is unreachable. Try again shortly.',
      cause,
    )
  }
}
