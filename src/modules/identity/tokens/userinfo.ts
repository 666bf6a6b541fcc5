import { AppError, unavailable } from '../../../core/errors/errors.ts'
import type { ProviderMetadata } from './discovery.ts'
import { profileClaims } from './tokens.ts'

const TIMEOUT_MS = 5_000

type ProfileClaims = ReturnType<typeof profileClaims>

/**
 * Asks the provider's userinfo endpoint about the holder of a token.
 *
 * Undefined when the provider has no such endpoint or does not take this token there: an access token for our
 * audience alone, or an ID token, is good here and yet refused there.
 * @throws 503 when it cannot be reached, 502 when it fails or talks about somebody else.
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
        'The identity provider failed to answer about your account. Try again shortly.',
      )
    }
    if (!('sub' in claims) || claims.sub !== subject) {
      throw new AppError(
        502,
        'identity_provider_error',
        'The identity provider answered about another account. Sign in again.',
      )
    }
    return profileClaims(claims)
  }
}
export type Userinfo = ReturnType<typeof createUserinfo>

async function requestUserinfo(url: string, token: string): Promise<Response> {
  try {
    // A redirect is refused, so that the token goes nowhere but to the published endpoint.
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
