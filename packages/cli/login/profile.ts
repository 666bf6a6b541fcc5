import type { Schemas } from '@wheelhouse/sdk'
import type { Credential } from '../credentials/credential.ts'
import type { Output } from '../output.ts'

export interface SignInDetails {
  readonly server: string
  readonly profileName: string | undefined
  readonly credential: Credential
}

/** Prints the account for `login` and `whoami`, without the credential. */
export function showAccount(out: Output, account: Schemas['Profile'], signIn: SignInDetails): void {
  const { server, profileName, credential } = signIn
  const kind = credential.kind === 'api_key' ? 'API key' : 'browser sign-in'
  const { id, email, display_name, roles } = account
  const shown = {
    id,
    email,
    display_name,
    roles,
    server,
    profile: profileName ?? null,
    credential: credential.kind,
  }
  out.result(shown, () =>
    out.record([
      ['Name', display_name],
      ['E-mail', email],
      ['Roles', roles.join(', ') || 'none yet'],
      ['Platform', server],
      ['Signed in by', kind],
      ['Profile', profileName],
    ]),
  )
}
