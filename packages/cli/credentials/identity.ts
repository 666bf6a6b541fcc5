import { Failure } from '../failure.ts'
import type { GlobalOptions } from '../global-options.ts'
import type { Env } from './config-directory.ts'
import type { Credential, CredentialFile, SessionCredential } from './credential.ts'
import type { CredentialStore } from './store.ts'

/** Where `npm start` serves. */
export const DEFAULT_SERVER = 'http://localhost:3000'
const DEFAULT_PROFILE = 'default'
/** So long before its end a token is renewed: it must last for the request, and clocks differ. */
const RENEW_BEFORE_MS = 30_000

export type Identity = Awaited<ReturnType<typeof resolveIdentity>>

/**
 * Which platform is meant, and who one is there. The address: `--server`, `--profile`, WHEELHOUSE_URL,
 * WHEELHOUSE_PROFILE, the current profile, this machine. The credential: WHEELHOUSE_API_KEY, or the profile's. That of
 * one platform is never shown to another.
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
  // A program that brings its key and its address along needs nothing that is stored.
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
      `Profile ${name} is of ${profile.server}, not of ${address}: name one of them only`,
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
  /** Another token for one that has run out or was refused; undefined where there is none. */
  async function renewToken(staleToken: string): Promise<string | undefined> {
    if (credential?.kind !== 'session' || name === undefined) return undefined
    if (credential.token !== staleToken) return credential.token
    const { renewCredential } = await import('./renewal.ts')
    renewing ??= renewCredential(store, name, credential, server).finally(() => {
      renewing = undefined
    })
    credential = (await renewing) ?? credential
    return credential.token === staleToken ? undefined : credential.token
  }

  return {
    server,
    /** Under which name this is stored, or would be. */
    profileName: name ?? DEFAULT_PROFILE,
    get credential() {
      return credential
    },
    fromEnvironment: Boolean(key),
    required: requireCredential,
    /** What to send as Bearer. @throws Failure when nobody is signed in */
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

/** The current profile, or for an address the current one there, or the only one. */
function profileFor(
  address: string | undefined,
  file: { current?: string | undefined; profiles: Record<string, { server: string }> },
) {
  const { current, profiles } = file
  if (address === undefined) return current
  if (current !== undefined && profiles[current]?.server === address) return current
  return Object.keys(profiles).find((name) => profiles[name]?.server === address)
}

/** The origin of an address as people give it: without a scheme, https, on this machine http. @throws Failure */
export function originOf(text: string): string {
  const isLocalhost = /^(localhost|127\.0\.0\.1|\[::1\])(:|\/|$)/i.test(text)
  const url = URL.parse(text.includes('://') ? text : `${isLocalhost ? 'http' : 'https'}://${text}`)
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) {
    throw new Failure('usage', `"${text}" is no address of a platform: give one such as https://hub.example`)
  }
  return url.origin
}
