import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import type { SessionCredential } from './credentials.ts'
import { Failure } from './failure.ts'

const ANSWER_LIMIT_MS = 15_000
const DEFAULT_INTERVAL_S = 5
/** Increase of the interval after `slow_down`, from RFC 8628. */
const SLOW_DOWN_S = 5
const MAX_INTERVAL_S = 60
const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

const endpointUrl = z.url({ protocol: /^https?$/ })
const Metadata = z.object({
  issuer: z.string(),
  token_endpoint: endpointUrl,
  device_authorization_endpoint: endpointUrl.optional(),
  revocation_endpoint: endpointUrl.optional(),
})
type OidcMetadata = z.infer<typeof Metadata>

const Device = z.object({
  device_code: z.string().min(1),
  user_code: z.string().min(1).max(100),
  verification_uri: endpointUrl,
  verification_uri_complete: endpointUrl.optional(),
  expires_in: z.number().positive(),
  interval: z.number().positive().optional(),
})
export type Device = z.infer<typeof Device>

const Tokens = z.object({
  access_token: z.string().min(1),
  id_token: z.string().min(1).optional(),
  refresh_token: z.string().min(1).optional(),
  expires_in: z.number().positive().optional(),
})
export type Tokens = z.infer<typeof Tokens>

const Refusal = z.object({ error: z.string(), error_description: z.string().optional() })

/** The provider's error response, RFC 6749 section 5.2. */
export class OidcError extends Error {
  readonly code: string
  constructor({ error, error_description }: z.infer<typeof Refusal>) {
    super(error_description ?? error)
    this.code = error
  }
}

/** Fetches the provider's metadata. Allows unencrypted endpoints only on this machine and on the platform's origin. */
export async function discover(issuer: string, platform: string, signal: AbortSignal): Promise<OidcMetadata> {
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const metadata = Metadata.safeParse(await read(address, { signal }))
  if (!metadata.success || metadata.data.issuer !== issuer) {
    throw new Failure(
      'refused',
      `${issuer} has no valid metadata of an identity provider. Sign in with an API key: --api-key`,
    )
  }
  for (const url of [issuer, metadata.data.token_endpoint]) {
    const { protocol, hostname, origin } = new URL(url)
    const isLoopback = /^(([a-z0-9-]+\.)*localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname)
    if (protocol !== 'https:' && !isLoopback && origin !== platform) {
      throw new Failure('refused', `The identity provider ${url} does not use https. Ask its administrator.`)
    }
  }
  return metadata.data
}

/** Requests a device code that the user confirms in a browser. */
export async function requestDevice(
  metadata: OidcMetadata,
  client: { client_id: string; audience: string; scopes: readonly string[] },
  signal: AbortSignal,
): Promise<Device> {
  const endpoint = metadata.device_authorization_endpoint
  if (endpoint === undefined) {
    throw new Failure('refused', `${metadata.issuer} has no device flow. Sign in with an API key: --api-key`)
  }
  const { client_id, audience, scopes } = client
  // Auth0 and similar providers issue a JWT access token only for a named audience. Others ignore the parameter.
  const form = { client_id, scope: scopes.join(' '), ...(audience !== client_id && { audience }) }
  const device = Device.safeParse(await post(endpoint, form, signal))
  if (device.success) return device.data
  throw new Failure(
    'refused',
    `${metadata.issuer} returned no device code. Sign in with an API key: --api-key`,
  )
}

/**
 * Polls for tokens, at the provider's interval, until the user has decided.
 * @throws Failure when the user refuses or the code expires
 */
export async function pollForTokens(
  metadata: OidcMetadata,
  clientId: string,
  device: Device,
  signal: AbortSignal,
): Promise<Tokens> {
  // Monotonic, because the wall clock may change during the sign-in.
  const endsAt = performance.now() + device.expires_in * 1000
  let intervalS = device.interval ?? DEFAULT_INTERVAL_S
  for (;;) {
    await delay(intervalS * 1000, undefined, { signal })
    if (performance.now() > endsAt) throw expiredCodeFailure()
    try {
      const form = { grant_type: DEVICE_GRANT, device_code: device.device_code, client_id: clientId }
      return Tokens.parse(await post(metadata.token_endpoint, form, signal))
    } catch (cause) {
      signal.throwIfAborted()
      const code = cause instanceof OidcError ? cause.code : undefined
      if (code === 'access_denied')
        throw new Failure('refused', 'The sign-in was refused in the browser.', { cause })
      if (code === 'expired_token' || code === 'invalid_grant') throw expiredCodeFailure(cause)
      // After a timeout, RFC 8628 requires a longer interval.
      const slower = code === 'slow_down' || (cause instanceof Failure && cause.outcome === 'unreachable')
      if (slower) intervalS = Math.min(intervalS + SLOW_DOWN_S, MAX_INTERVAL_S)
      else if (code !== 'authorization_pending') throw cause
    }
  }
}

const expiredCodeFailure = (cause?: unknown) =>
  new Failure('refused', 'The code has expired before you confirmed it. Try again: wheelhouse login', {
    cause,
  })

/** Exchanges a refresh token for new tokens, which may invalidate it. @throws OidcError, Failure */
export async function refreshTokens(credential: SessionCredential): Promise<Tokens> {
  const { client_id, refresh_token = '', token_endpoint } = credential
  // Ignores Ctrl-C: the response may contain the only valid refresh token.
  const limit = AbortSignal.timeout(ANSWER_LIMIT_MS)
  return Tokens.parse(
    await post(token_endpoint, { grant_type: 'refresh_token', refresh_token, client_id }, limit),
  )
}

/** Revokes a refresh token. @returns whether the provider supports it */
export async function revokeTokens(
  credential: SessionCredential,
  platform: string,
  signal: AbortSignal,
): Promise<boolean> {
  const { refresh_token: token, client_id, issuer } = credential
  if (token === undefined) return true
  const { revocation_endpoint } = await discover(issuer, platform, signal)
  if (revocation_endpoint === undefined) return false
  await post(revocation_endpoint, { token, client_id, token_type_hint: 'refresh_token' }, signal)
  return true
}

function post(url: string, form: Record<string, string>, signal: AbortSignal): Promise<unknown> {
  return read(url, { method: 'POST', body: new URLSearchParams(form), signal })
}

async function read(url: string, init: RequestInit & { signal: AbortSignal }): Promise<unknown> {
  const { origin } = new URL(url)
  const unreachableFailure = (cause?: unknown) =>
    new Failure('unreachable', `The identity provider ${origin} does not answer. Try again in a moment.`, {
      cause,
    })
  const signal = AbortSignal.any([init.signal, AbortSignal.timeout(ANSWER_LIMIT_MS)])
  const headers = { Accept: 'application/json' }
  const response = await fetch(url, { ...init, headers, redirect: 'error', signal }).catch((cause) => {
    init.signal.throwIfAborted()
    throw unreachableFailure(cause)
  })
  const body: unknown = await response.json().catch(() => undefined)
  if (response.ok) return body
  const refusal = Refusal.safeParse(body)
  if (refusal.success && response.status < 500) throw new OidcError(refusal.data)
  throw response.status >= 500 || response.status === 429
    ? unreachableFailure()
    : new Failure('refused', `The identity provider ${origin} answered ${response.status}.`)
}
