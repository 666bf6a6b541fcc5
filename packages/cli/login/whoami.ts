import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { showAccount } from './profile.ts'

/** Prints the caller's account. */
export async function run(cli: Context): Promise<void> {
  const { server, identity } = cli
  const account = await answerOf(cli.rest.GET('/api/auth/profile'))
  const profileName = identity.fromEnvironment ? undefined : identity.profileName
  showAccount(cli.out, account, { server, profileName, credential: identity.required() })
}
