import type { GlobalOptions } from '../commands.ts'
import { Failure } from '../failure.ts'
import type { Credential } from './credential.ts'
import type { Env } from './places.ts'
import type { CredentialStore } from './store.ts'

/** Where `npm start` serves. */
export const DEFAULT_SERVER = 'http://localhost:3000'
const DEFAULT_PROFILE = 'default'

export type Identity = Awaited<ReturnType<typeof chosenIdentity>>

/**
 * Which platform is meant, and who one is there. The address: `--server`, `--profile`, WHEELHOUSE_URL,
 * WHEELHOUSE_PROFILE, the current profile, this machine. The credential: WHEELHOUSE_API_KEY, or the profile's. That of
 * one platform is never shown to another.
 */
export async function chosenIdentity(parts: {
  store: CredentialStore
  env: Env
  options: GlobalOptions
  signal: AbortSignal
}) {
  const { store, env, options } = parts
  const file = await store.read()
  const wanted = options.server ?? (options.profile === undefined ? env.WHEELHOUSE_URL : undefined)
  const address = wanted ? originOf(wanted) : undefined
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
  const key = env.WHEELHOUSE_API_KEY?.trim()
  const credential: Credential | undefined = key ? { kind: 'api_key', key } : profile?.credential

  const required = (): Credential => {
    if (credential) return credential
    const which = named === undefined ? `at ${server}` : `as ${named}`
    const login = `wheelhouse login ${server}${named === undefined ? '' : ` --profile ${named}`}`
    throw new Failure('not_signed_in', `You are not signed in ${which}. Sign in with: ${login}`)
  }
  return {
    server,
    /** Under which name this is stored, or would be. */
    profileName: name ?? DEFAULT_PROFILE,
    credential,
    fromEnvironment: Boolean(key),
    required,
    /** What to send as Bearer. @throws Failure when nobody is signed in */
    async token(): Promise<string> {
      const known = required()
      return known.kind === 'api_key' ? known.key : known.access_token
    },
    /** Another token for one that was refused; undefined where there is none. */
    async renewed(_refused: string): Promise<string | undefined> {
      return undefined
    },
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

/** The origin of an address as people give it. @throws Failure */
export function originOf(text: string): string {
  const url = URL.parse(/^https?:\/\//i.test(text) ? text : `https://${text}`)
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) {
    throw new Failure('usage', `"${text}" is no address of a platform: give one such as https://hub.example`)
  }
  return url.origin
}
