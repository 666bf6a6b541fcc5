import type { Context } from '../context.ts'
import { Failure } from '../failure.ts'

/** Makes a profile the current one. */
export async function run(cli: Context, name: string): Promise<void> {
  const profile = await cli.store.update((file) => {
    const found = file.profiles[name]
    if (!found) throw new Failure('not_found', `You have no profile ${name}. See: wheelhouse profiles list`)
    return [{ ...file, current: name }, found] as const
  }, cli.signal)
  cli.out.result({ profile: name, server: profile.server }, () =>
    cli.out.line(`The current profile is ${name} at ${profile.server}.`),
  )
}
