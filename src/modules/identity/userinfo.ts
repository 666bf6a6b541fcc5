import { AppError, unavailable } from '../../core/errors/errors.ts'
import type { ProviderMetadata } from './discovery.ts'
import { personalClaims } from './tokens.ts'

const TIMEOUT_MS = 5_000

type Person = ReturnType<typeof personalClaims>

/**
 * Asks the provider's userinfo endpoint about the holder of a token.
 *
 * Undefined when the provider has no such endpoint or does not take this token there: an access token for our
 * audience alone, or an ID token, is good here and yet refused there.
 * @throws 503 when it cannot be reached, 502 when it fails or talks about somebody else.
 */
export function createUserinfo(parts: { discover: () => Promise<ProviderMetadata> }) {
  return async (token: string, subject: string): Promise<Person | undefined> => {
    const { userinfo_endpoint: url } = await parts.discover()
    if (!url) return undefined
    const reply = await ask(url, token)
    if (reply.status === 401 || reply.status === 403) return undefined
    const claims = reply.ok ? await reply.json().catch(() => undefined) : undefined
    if (typeof claims !== 'object' || claims === null) {
      throw new AppError(502, 'The identity provider failed to answer about your account. Try again shortly.')
    }
    if (!('sub' in claims) || claims.sub !== subject) {
      throw new AppError(502, 'The identity provider answered about another account. Sign in again.')
    }
    return personalClaims(claims)
  }
}
export type Userinfo = ReturnType<typeof createUserinfo>

async function ask(url: string, token: string): Promise<Response> {
  try {
    // A redirect is refused, so that the token goes nowhere but to the published endpoint.
    return await fetch(url, {
      headers: { Authorization: `Bearer ${token}`, Accept: 'application/json' },
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
  } catch (cause) {
    throw unavailable('The identity provider is unreachable. Try again shortly.', cause)
  }
}
