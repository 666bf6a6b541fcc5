import { ApiError, answerOf, createRestClient, type Schemas } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import type { Credential, CredentialFile } from '../credentials/credential.ts'
import { originOf } from '../credentials/identity.ts'
import { sessionCredential } from '../credentials/renewal.ts'
import { toFailure } from '../errors.ts'
import { Failure } from '../failure.ts'
import { createRequests } from '../requests.ts'
import { styled } from '../text.ts'
import { openBrowser } from './browser.ts'
import { type Device, discover, pollForTokens, requestDevice } from './oidc-provider.ts'
import { showAccount } from './profile.ts'

interface Options {
  readonly apiKey?: true
  readonly open?: true
}

/** Signs in and stores the credential for later commands. */
export async function run(cli: Context, address: string | undefined, options: Options): Promise<void> {
  const server = address === undefined ? cli.server : originOf(address)
  const signIn = options.apiKey ? withApiKey(cli, server) : inBrowser(cli, server, options.open === true)
  const [credential, account] = await signIn.catch((cause) => {
    if (cli.signal.aborted) throw cause // the user has interrupted the sign-in
    throw toFailure(cause, server)
  })
  const profileName = await cli.store.update((file) => {
    const name = cli.selectedProfile ?? chooseProfileName(file, server)
    const profiles = { ...file.profiles, [name]: { server, credential } }
    return [{ ...file, current: name, profiles }, name] as const
  }, cli.signal)
  cli.out.note(styled('green', 'You are signed in.'), ` Stored in ${cli.store.path}`)
  showAccount(cli.out, account, { server, profileName, credential })
}

/** Returns the profile of the platform; else `default`, or the platform's host if `default` is in use. */
function chooseProfileName(file: CredentialFile, server: string): string {
  const { current, profiles } = file
  if (current !== undefined && profiles[current]?.server === server) return current
  const existing = Object.keys(profiles).find((name) => profiles[name]?.server === server)
  return existing ?? (profiles.default ? new URL(server).host : 'default')
}

async function withApiKey(cli: Context, server: string) {
  const key = await cli.prompts.secret('API key')
  if (/[^\x21-\x7e]/.test(key)) throw new Failure('usage', 'The input is not an API key.')
  const account = await accountOf(cli, server, key)
  return [{ kind: 'api_key', key } satisfies Credential, account] as const
}

async function inBrowser(cli: Context, server: string, open: boolean) {
  const rest = restOf(cli, server)
  const client = await answerOf(rest.GET('/api/auth/cli')).catch((cause) => {
    if (!(cause instanceof ApiError && cause.status === 404)) throw cause
    const next = `Create an API key in its console and sign in with: wheelhouse login ${server} --api-key`
    throw new Failure('refused', `${server} has no sign-in for command lines. ${next}`, { cause })
  })
  const provider = await discover(client.issuer, server, cli.signal)
  const device = await requestDevice(provider, client, cli.signal)
  showCode(cli, device)
  if (open) await openBrowser(device.verification_uri_complete ?? device.verification_uri)
  const tokens = await pollForTokens(provider, client.client_id, device, cli.signal)

  const { issuer, client_id } = client
  const { token_endpoint } = provider
  // Some providers issue access tokens only for themselves. The platform then accepts their ID tokens.
  for (const use of ['access_token', 'id_token'] as const) {
    if (tokens[use] === undefined) continue
    const credential = sessionCredential(tokens, {
      issuer,
      client_id,
      token_endpoint,
      refresh_token: undefined,
      use,
    })
    try {
      return [credential, await accountOf(cli, server, tokens[use])] as const
    } catch (cause) {
      if (!(cause instanceof Failure && cause.outcome === 'not_signed_in')) throw cause
    }
  }
  const why = 'it does not accept the tokens of its identity provider'
  throw new Failure(
    'not_signed_in',
    `${server} refuses the sign-in: ${why}. Sign in with an API key: --api-key`,
  )
}

function showCode({ out }: Context, device: Device): void {
  out.notice('Open this address in a browser and sign in there:')
  out.notice('  ', styled('bold', device.verification_uri_complete ?? device.verification_uri))
  out.notice('It must show this code: ', styled('bold', device.user_code))
  out.note(`Waiting for the sign-in, at most ${Math.ceil(device.expires_in / 60)} minutes. Ctrl-C cancels.`)
}

function restOf(cli: Context, server: string, token?: string) {
  const { send } = createRequests({ server, signal: cli.signal })
  return createRestClient({ baseUrl: server, fetch: (request) => send(request, token) })
}

async function accountOf(cli: Context, server: string, token: string): Promise<Schemas['Profile']> {
  return await answerOf(restOf(cli, server, token).GET('/api/auth/profile')).catch((cause) => {
    if (!(cause instanceof ApiError && cause.status === 401)) throw cause
    throw new Failure('not_signed_in', `${server} does not accept the credential.`, { cause })
  })
}
