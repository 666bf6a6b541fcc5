import { hash } from 'node:crypto'
import { TOKEN_TOLERANCE_MS, type TokenClaims, type VerifyToken } from './tokens.ts'

/** Verified tokens that are remembered; of more than that, the newest. */
const MAX_TOKENS = 10_000
/** How long a verification is valid. A signing key that the provider withdraws is accepted for as long. */
const VALID_MS = 60_000

interface Verified {
  readonly claims: TokenClaims
  readonly untilMs: number
}

/**
 * Returns a verifier that remembers tokens which another one has verified: checking a signature takes longer than the
 * rest of the authentication. Tokens that are not valid are never remembered.
 */
export function rememberVerified(verify: VerifyToken, clockMs: () => number = Date.now): VerifyToken {
  const verified = new Map<string, Verified>()
  return async (token) => {
    const key = hash('sha256', token, 'base64url') // no credentials in memory, and keys of one size
    const known = verified.get(key)
    if (known && clockMs() < known.untilMs) return known.claims
    verified.delete(key)
    const claims = await verify(token)
    const untilMs = Math.min(clockMs() + VALID_MS, claims.expiresAt.getTime() + TOKEN_TOLERANCE_MS)
    verified.set(key, { claims, untilMs })
    const oldest = verified.keys().next().value
    if (verified.size > MAX_TOKENS && oldest !== undefined) verified.delete(oldest)
    return claims
  }
}
