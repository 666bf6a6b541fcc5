import * as oidc from 'openid-client'
import { causesOf } from '../../../core/errors/error-causes.ts'
import { AppError, badRequest, forbidden, unavailable } from '../../../core/errors/errors.ts'
import { isLoopback } from '../../../core/http/loopback.ts'

const TIMEOUT_SECONDS = 10
const MAX_HINT_LENGTH = 200

/** The settings of the OpenID Connect provider that the dashboard's sign-in needs. */
export interface LoginProvider {
  readonly issuer: string
  readonly audience: string
  readonly clientId: string | undefined
  readonly clientSecret?: string | undefined
}

/** The tokens of a completed sign-in, in order of preference, and the claims of the ID token. */
export interface LoginTokens {
  readonly candidates: readonly string[]
  readonly claims: Readonly<Record<string, unknown>>
}

/**
 * Creates a client for the authorization code flow. It reads the provider's metadata on first use.
 * @param options.fetch sends the requests to a provider that a user has configured. The signature of its ID tokens is checked here,
 *   because nothing else does
 */
export function createLoginClient(options: {
  oidcProvider: LoginProvider
  callbackUrl: string
  scope?: string
  fetch?: oidc.CustomFetch
}) {
  const { oidcProvider, callbackUrl, scope = 'openid email profile' } = options
  let cached: Promise<oidc.Configuration> | undefined

  const configuration = (): Promise<oidc.Configuration> => {
    cached ??= discover(oidcProvider, options.fetch).catch((cause) => {
      cached = undefined
      throw cause instanceof AppError ? cause : toReadableError(cause)
    })
    return cached
  }

  return {
    /** Returns the issuer that the metadata of the provider name. @throws 502, 503 */
    issuer: async (): Promise<string> => (await configuration()).serverMetadata().issuer,

    /**
     * Returns the authorization URL for the browser, and the values to store until the callback.
     * @param loginHint the account to offer first, as OpenID Connect defines it. A provider may ignore it.
     */
    async begin(loginHint?: unknown) {
      const config = await configuration()
      const verifier = oidc.randomPKCECodeVerifier()
      const state = oidc.randomState()
      const nonce = oidc.randomNonce()
      const url = oidc.buildAuthorizationUrl(config, {
        redirect_uri: callbackUrl,
        scope,
        code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        state,
        nonce,
        ...(isHint(loginHint) && { login_hint: loginHint }),
        // Some providers, such as Auth0, issue a JWT access token only for a named audience. Others ignore the parameter.
        ...(oidcProvider.audience !== oidcProvider.clientId && { audience: oidcProvider.audience }),
      })
      return { url, verifier, state, nonce }
    },

    /** Exchanges the authorization code of the callback for tokens. */
    async finish(
      search: string,
      expected: { verifier: string; state: string; nonce: string },
    ): Promise<LoginTokens> {
      const config = await configuration()
      const tokens = await oidc
        .authorizationCodeGrant(config, new URL(search, callbackUrl), {
          pkceCodeVerifier: expected.verifier,
          expectedState: expected.state,
          expectedNonce: expected.nonce,
          idTokenExpected: true,
        })
        .catch((cause) => {
          throw toReadableError(cause)
        })
      const { access_token, id_token } = tokens
      const candidates = id_token ? [access_token, id_token] : [access_token]
      return { candidates, claims: tokens.claims() ?? {} }
    },
  }
}

const isHint = (value: unknown): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= MAX_HINT_LENGTH

async function discover(
  oidcProvider: LoginProvider,
  customFetch: oidc.CustomFetch | undefined,
): Promise<oidc.Configuration> {
  const { clientId, clientSecret } = oidcProvider
  if (!clientId)
    throw new AppError(
      503,
      'sign_in_not_configured',
      'Sign-in is not set up on this platform. An administrator must set IDP_CLIENT_ID.',
    )
  const issuer = new URL(oidcProvider.issuer)
  // Plain http is allowed only for the development provider on the same machine.
  const insecure = issuer.protocol === 'http:' && isLoopback(issuer.hostname)
  return await oidc.discovery(issuer, clientId, undefined, clientAuthentication(clientSecret), {
    execute: [
      ...(insecure ? [oidc.allowInsecureRequests] : []),
      ...(customFetch ? [oidc.enableNonRepudiationChecks] : []),
    ],
    timeout: TIMEOUT_SECONDS,
    ...(customFetch && { [oidc.customFetch]: customFetch }),
  })
}

/** Sends the secret with a method that the provider supports. The default is basic authentication (RFC 8414). */
function clientAuthentication(secret: string | undefined): oidc.ClientAuth {
  if (!secret) return oidc.None()
  return (server, client, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const method = methods.includes('client_secret_basic') ? oidc.ClientSecretBasic : oidc.ClientSecretPost
    method(secret)(server, client, body, headers)
  }
}

/** Converts a provider error to a message for the user who signs in. */
function toReadableError(cause: unknown): AppError {
  if (cause instanceof oidc.AuthorizationResponseError) {
    return cause.error === 'access_denied'
      ? forbidden('sign_in_cancelled', 'The sign-in was cancelled. Start again.')
      : new AppError(
          502,
          'identity_provider_error',
          'The identity provider could not complete the sign-in. Start again.',
          { cause },
        )
  }
  if (cause instanceof oidc.ResponseBodyError && cause.error === 'invalid_grant') {
    return badRequest('This sign-in has expired or was already used. Start again.', 'sign_in_expired')
  }
  if (isUnreachable(cause)) {
    return unavailable(
      'identity_provider_unavailable',
      'The identity provider is unreachable. Try again shortly.',
      cause,
    )
  }
  return new AppError(
    502,
    'identity_provider_error',
    "The identity provider's response is not valid. Start again.",
    { cause },
  )
}

/** Detects a failed connection (a TypeError of fetch) or a timeout (a TimeoutError), also as the cause of another error. */
function isUnreachable(cause: unknown): boolean {
  for (const error of causesOf(cause)) {
    if (error.name === 'TimeoutError' || error.message === 'fetch failed') return true
    if ('code' in error && error.code === 'OAUTH_TIMEOUT') return true
  }
  return false
}
