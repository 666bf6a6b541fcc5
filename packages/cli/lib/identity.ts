import type { Credential, CredentialFile, CredentialStore, Env, SessionCredential } from './credentials.ts'
import { Failure } from './failure.ts'
import { OidcError, refreshTokens, type Tokens } from './oidc-provider.ts'
import type { GlobalOptions } from './options.ts'

/** Address of `npm start`. */
const DEFAULT_SERVER = 'http://localhost:3000'
const DEFAULT_PROFILE = 'default'
/** Time before its end at which a token is renewed: it must last for the request, and clocks differ. */
const RENEW_BEFORE_MS = 30_000

export type Identity = Awaited<ReturnType<typeof resolveIdentity>>

/**
 * Resolves the platform and the credential. The address is the first of: `--server`, `--profile`, WHEELHOUSE_URL,
 * WHEELHOUSE_PROFILE, the current profile, this machine. The credential is WHEELHOUSE_API_KEY, or the profile's. Never
 * sends the credential of one platform to another.
 */
export async function resolveIdentity(deps: {
  store: CredentialStore
  env: Env
  options: GlobalOptions
  signal: AbortSignal
}) {
  const { store, env, options } = deps
  const key = env.WHEELHOUSE_API_KEY?.trim()
  const wanted = options.server ?? (options.profile === undefined ? env.WHEELHOUSE_URL : undefined)
  const address = wanted ? originOf(wanted) : undefined
  // A key and an address from the environment need no stored profile.
  const needsNoProfile = key && address !== undefined && options.profile === undefined
  const file: Pick<CredentialFile, 'current' | 'profiles'> = needsNoProfile
    ? { profiles: {} }
    : await store.read()
  const named = options.profile ?? (address === undefined ? env.WHEELHOUSE_PROFILE : undefined)
  const name = named ?? profileFor(address, file)
  const profile = name === undefined ? undefined : file.profiles[name]
  if (profile && address !== undefined && profile.server !== address) {
    throw new Failure(
      'usage',
      `Profile ${name} belongs to ${profile.server}, not to ${address}. Use only one of --profile and --server.`,
    )
  }
  const server = address ?? profile?.server ?? DEFAULT_SERVER
  let credential: Credential | undefined = key ? { kind: 'api_key', key } : profile?.credential

  let renewing: Promise<SessionCredential | undefined> | undefined

  const requireCredential = (): Credential => {
    if (credential) return credential
    const which = named === undefined ? `at ${server}` : `as ${named}`
    const login = `wheelhouse login ${server}${named === undefined ? '' : ` --profile ${named}`}`
    throw new Failure('not_signed_in', `You are not signed in ${which}. Sign in with: ${login}`)
  }
  /** Renews a token that has expired or was refused. @returns undefined if that is not possible */
  async function renewToken(staleToken: string): Promise<string | undefined> {
    if (credential?.kind !== 'session' || name === undefined) return undefined
    if (credential.token !== staleToken) return credential.token
    renewing ??= renewCredential(store, name, credential, server).finally(() => {
      renewing = undefined
    })
    credential = (await renewing) ?? credential
    return credential.token === staleToken ? undefined : credential.token
  }

  return {
    server,
    /** Name of the profile, which may not be stored yet. */
    profileName: name ?? DEFAULT_PROFILE,
    get credential() {
      return credential
    },
    fromEnvironment: Boolean(key),
    required: requireCredential,
    /** Returns the bearer token. @throws Failure without a sign-in */
    async token(): Promise<string> {
      const currentCredential = requireCredential()
      if (currentCredential.kind === 'api_key') return currentCredential.key
      if (Date.parse(currentCredential.expires_at) - Date.now() > RENEW_BEFORE_MS)
        return currentCredential.token
      return (await renewToken(currentCredential.token)) ?? currentCredential.token
    },
    renewed: renewToken,
  }
}

/** Returns the current profile, or a profile of the address, with preference for the current one. */
function profileFor(
  address: string | undefined,
  file: { current?: string | undefined; profiles: Record<string, { server: string }> },
) {
  const { current, profiles } = file
  if (address === undefined) return current
  if (current !== undefined && profiles[current]?.server === address) return current
  return Object.keys(profiles).find((name) => profiles[name]?.server === address)
}

/** Returns the origin of an address. The default scheme is https, on this machine http. @throws Failure if invalid */
export function originOf(text: string): string {
  const isLocalhost = /^(localhost|127\.0\.0\.1|\[::1\])(:|\/|$)/i.test(text)
  const url = URL.parse(text.includes('://') ? text : `${isLocalhost ? 'http' : 'https'}://${text}`)
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) {
    throw new Failure(
      'usage',
      `"${text}" is not the address of a platform. Enter one such as https://hub.example`,
    )
  }
  return url.origin
}

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
async function renewCredential(
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
        { cause },
      )
    })
    const credential = sessionCredential(tokens, stored)
    const profiles = { ...file.profiles, [profileName]: { ...profile, credential } }
    return [{ ...file, profiles }, credential] as const
  })
}
