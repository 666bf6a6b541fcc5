import type { Context } from '../context.ts'
import type { Profile } from '../credentials/credential.ts'
import { Failure } from '../failure.ts'
import { revokeTokens } from './oidc-provider.ts'

/** Removes sign-ins, here and at the identity provider. Does not revoke API keys: other programs may use them. */
export async function run(cli: Context, { all }: { all?: true }): Promise<void> {
  const removed = await cli.store.update((file) => {
    const names = all ? Object.keys(file.profiles) : [cli.identity.profileName]
    const found = names.flatMap((name): [string, Profile][] => {
      const profile = file.profiles[name]
      return profile ? [[name, profile]] : []
    })
    const left = Object.entries(file.profiles).filter(([name]) => !names.includes(name))
    const { current, ...rest } = file
    const keepsCurrent = current !== undefined && !names.includes(current)
    const profiles = Object.fromEntries(left)
    return [{ ...rest, ...(keepsCurrent && { current }), profiles }, found] as const
  }, cli.signal)
  if (removed.length === 0 && !all) {
    throw new Failure(
      'not_signed_in',
      `You are not signed in as ${cli.identity.profileName}. See: wheelhouse profiles list`,
    )
  }
  for (const [name, { server, credential }] of removed) {
    cli.out.note(`Signed out of ${server} (${name}).`)
    if (credential.kind === 'api_key') {
      cli.out.note('Its API key still works. Revoke it in the console, or with: wheelhouse keys revoke')
    } else {
      const ended = await revokeTokens(credential, server, cli.signal).catch(() => false)
      if (!ended)
        cli.out.note('The identity provider could not be reached. The sign-in expires there by itself.')
    }
  }
  if (cli.identity.fromEnvironment) cli.out.note('WHEELHOUSE_API_KEY is still set and in effect.')
  if (cli.out.json)
    cli.out.document({ signed_out: removed.map(([name, { server }]) => ({ profile: name, server })) })
}
