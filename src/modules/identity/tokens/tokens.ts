import { createLocalJWKSet, createRemoteJWKSet, errors, type JWTVerifyGetKey, jwtVerify } from 'jose'
import { AppError, unauthorized, unavailable } from '../../../core/errors/errors.ts'
import type { ProviderMetadata } from './discovery.ts'

/** Only asymmetric signatures: a public key must not be usable as an HMAC secret, and `none` has no signature. */
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA']
/** How long after its expiry a session token is still accepted, because clocks differ. */
export const TOKEN_TOLERANCE_MS = 5_000
/** How long an identity provider may take to answer with its keys. */
const JWKS_TIMEOUT_MS = 3_000
const SUBJECT_LIMIT = 255

/** The claims of a verified session token. */
export interface TokenClaims {
  readonly issuer: string
  readonly subject: string
  readonly email?: string
  readonly emailVerified: boolean
  readonly name?: string
  readonly picture?: string
  readonly expiresAt: Date
  /** When the provider issued the token; missing in tokens that do not say so. */
  readonly issuedAt?: Date
}

/** Returns the key of a token. Throws if no key matches or the keys cannot be read. */
export type KeySource = JWTVerifyGetKey

/**
 * Creates a verifier for session tokens of one identity provider and one audience.
 * @throws 401 if the token is not valid, 503 if the provider's keys cannot be read.
 */
export function createTokenVerifier(deps: {
  issuer: string
  audience: string
  jwks: KeySource
  /** The issuer that the database stores for this provider's users. Default: `issuer`. */
  issuerName?: string
}) {
  const options = {
    issuer: deps.issuer,
    audience: deps.audience,
    algorithms: ALGORITHMS,
    clockTolerance: TOKEN_TOLERANCE_MS / 1_000,
    requiredClaims: ['iss', 'aud', 'exp', 'sub'],
  }
  return async (token: string): Promise<TokenClaims> => {
    try {
      const { payload } = await jwtVerify(token, deps.jwks, options)
      const { sub, exp, iat } = payload
      if (exp === undefined || !isSubject(sub))
        throw unauthorized(
          'token_invalid',
          'The session token does not contain a valid subject. Sign in again.',
        )
      return {
        issuer: deps.issuerName ?? deps.issuer,
        subject: sub,
        expiresAt: new Date(exp * 1000),
        ...(iat !== undefined && { issuedAt: new Date(iat * 1000) }),
        ...profileClaims(payload),
      }
    } catch (cause) {
      if (cause instanceof AppError) throw cause
      if (cause instanceof errors.JWTExpired)
        throw unauthorized('token_expired', 'The session token has expired. Sign in again.')
      if (cause instanceof errors.JOSEError)
        throw unauthorized('token_invalid', 'The session token is not valid. Sign in again.')
      throw cause
    }
  }
}
export type VerifyToken = ReturnType<typeof createTokenVerifier>

/** Normalizes the profile claims of a token or a userinfo response for the database. */
export function profileClaims(claims: Readonly<Record<string, unknown>>) {
  const email = toSingleLine(claims.email, 320)
  const name = toSingleLine(claims.name, 100)
  const picture = toSingleLine(claims.picture, 2_000)
  const verified = claims.email_verified === true || claims.email_verified === 'true'
  return {
    ...(email?.includes('@') && { email }),
    // The provider verified the address that it sent. A normalized address that differs is not verified.
    emailVerified: verified && email !== undefined && email === claims.email,
    ...(name && { name }),
    ...(picture && /^https?:\/\//i.test(picture) && URL.canParse(picture) && { picture }),
  }
}

/**
 * Returns a source of the provider's published keys. It reads them on first use, caches them, and reads them again for
 * an unknown key id. While the provider is unreachable, cached keys stay valid.
 */
export function remoteJwks(deps: {
  discover: () => Promise<ProviderMetadata>
  jwksUrl?: string | undefined
}): KeySource {
  let remote: ReturnType<typeof createRemoteJWKSet> | undefined
  const load = async () => {
    const url = deps.jwksUrl ?? (await deps.discover()).jwks_uri
    remote ??= createRemoteJWKSet(new URL(url), { timeoutDuration: JWKS_TIMEOUT_MS })
    return remote
  }
  return async (header, token) => {
    try {
      return await (remote ?? (await load()))(header, token)
    } catch (cause) {
      if (cause instanceof AppError || isTokenError(cause)) throw cause
      const known = remote?.jwks()
      const fallback = known && (await createLocalJWKSet(known)(header, token).catch(() => undefined))
      if (fallback) return fallback
      throw unavailable(
        'identity_provider_unavailable',
        "The identity provider's keys are unreachable. Try again shortly.",
        cause,
      )
    }
  }
}

function isTokenError(cause: unknown): boolean {
  return (
    cause instanceof errors.JWKSNoMatchingKey ||
    cause instanceof errors.JWKSMultipleMatchingKeys ||
    cause instanceof errors.JOSENotSupported
  )
}

function isSubject(value: unknown): value is string {
  return (
    typeof value === 'string' && value.length <= SUBJECT_LIMIT && toSingleLine(value, SUBJECT_LIMIT) === value
  )
}

/** Returns the value as one line of well-formed text, truncated to `max`; undefined if it is empty. */
function toSingleLine(value: unknown, max: number): string | undefined {
  if (typeof value !== 'string') return undefined
  const text = value
    .toWellFormed()
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ')
    .trim()
    .slice(0, max)
    .toWellFormed()
  return text === '' ? undefined : text
}
