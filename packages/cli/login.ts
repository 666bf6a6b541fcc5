import { spawn } from 'node:child_process'
import { ApiError, answerOf, createRestClient, type Schemas } from '@wheelhouse/sdk'
import type { Command } from 'commander'
import type { CreateAction } from './lib/action.ts'
import type { Context } from './lib/context.ts'
import type { Credential, CredentialFile, Profile } from './lib/credentials.ts'
import { toFailure } from './lib/errors.ts'
import { Failure } from './lib/failure.ts'
import { originOf, sessionCredential } from './lib/identity.ts'
import { type Device, discover, pollForTokens, requestDevice, revokeTokens } from './lib/oidc-provider.ts'
import type { Output } from './lib/output.ts'
import { createRequests } from './lib/requests.ts'
import { styled } from './lib/text.ts'

export const commands = {
  login: declareLogin,
  logout: declareLogout,
  whoami: declareWhoami,
  profiles: declareProfiles,
}

function declareLogin(command: Command, action: CreateAction): void {
  command
    .argument('[address]', 'the platform, such as https://hub.example')
    .option('--api-key', 'sign in with an API key, typed without echo or read from standard input')
    .option('--open', 'open the browser')
    .action(action(login))
}

function declareLogout(command: Command, action: CreateAction): void {
  command.option('--all', 'remove all sign-ins').action(action(logout))
}

function declareWhoami(command: Command, action: CreateAction): void {
  command.action(action(whoami))
}

function declareProfiles(profiles: Command, action: CreateAction): void {
  profiles
    .command('list')
    .description('list your sign-ins; the current one is marked')
    .action(action(listProfiles))
  profiles
    .command('use')
    .description('make a sign-in the current one')
    .argument('<name>')
    .action(action(useProfile))
}

interface LoginOptions {
  readonly apiKey?: true
  readonly open?: true
}

/** Signs in and stores the credential for later commands. */
async function login(cli: Context, address: string | undefined, options: LoginOptions): Promise<void> {
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

/** Removes sign-ins, here and at the identity provider. Does not revoke API keys: other programs may use them. */
async function logout(cli: Context, { all }: { all?: true }): Promise<void> {
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

/** Prints the caller's account. */
async function whoami(cli: Context): Promise<void> {
  const { server, identity } = cli
  const account = await answerOf(cli.rest.GET('/api/auth/profile'))
  const profileName = identity.fromEnvironment ? undefined : identity.profileName
  showAccount(cli.out, account, { server, profileName, credential: identity.required() })
}

/** Prints the stored sign-ins without requests to platforms. */
async function listProfiles(cli: Context): Promise<void> {
  const { current, profiles } = await cli.store.read()
  const rows = Object.entries(profiles).map(([name, { server, credential }]) => ({
    name,
    server,
    current: name === current,
    credential: credential.kind,
    expires_at: credential.kind === 'session' ? credential.expires_at : null,
  }))
  cli.out.list(
    rows,
    [
      { title: '', value: (row) => (row.current ? '*' : ' ') },
      { title: 'NAME', value: ({ name }) => name },
      { title: 'PLATFORM', value: ({ server }) => server, noTruncate: true },
      { title: 'BY', value: ({ credential }) => (credential === 'api_key' ? 'API key' : 'browser') },
    ],
    'You have no sign-ins. Sign in with: wheelhouse login',
  )
}

/** Makes a profile the current one. */
async function useProfile(cli: Context, name: string): Promise<void> {
  const profile = await cli.store.update((file) => {
    const found = file.profiles[name]
    if (!found) throw new Failure('not_found', `You have no profile ${name}. See: wheelhouse profiles list`)
    return [{ ...file, current: name }, found] as const
  }, cli.signal)
  cli.out.result({ profile: name, server: profile.server }, () =>
    cli.out.line(`The current profile is ${name} at ${profile.server}.`),
  )
}

interface SignInDetails {
  readonly server: string
  readonly profileName: string | undefined
  readonly credential: Credential
}

/** Prints the account for `login` and `whoami`, without the credential. */
function showAccount(out: Output, account: Schemas['Profile'], signIn: SignInDetails): void {
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

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  // Without a shell, which would interpret the address.
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/** Opens an http address in the browser. Ignores a missing browser, because the address is also printed. */
async function openBrowser(address: string): Promise<void> {
  const [program, ...args] = OPENERS[process.platform] ?? ['xdg-open']
  const child = spawn(program, [...args, new URL(address).href], { stdio: 'ignore', detached: true })
  child.on('error', () => {})
  child.unref()
}
