import { createRestClient, type HubClient, type HubClientOptions, type RestClient } from '@wheelhouse/sdk'
import { type CredentialStore, configDirectory, createCredentialStore, type Env } from './credentials.ts'
import { createHubClient } from './hub.ts'
import { type Identity, resolveIdentity } from './identity.ts'
import type { GlobalOptions } from './options.ts'
import { createOutput, type Output } from './output.ts'
import { createTerminalPrompts, type TerminalPrompts } from './prompts.ts'
import { createFileRequests, createRequests, type FetchFile } from './requests.ts'
import type { Terminal } from './terminal.ts'

/** Services and settings of a command. */
export interface Context {
  /** Origin of the platform, such as `https://hub.example`. */
  readonly server: string
  /** The profile that `--profile` names. */
  readonly selectedProfile: string | undefined
  /** The signed-in account, from the environment or from the stored credentials. */
  readonly identity: Identity
  readonly store: CredentialStore
  /** The REST API, signed in. Pass the results of its methods to `answerOf`. @throws Failure without a sign-in */
  readonly rest: RestClient
  /** The REST API without a credential, for public routes. */
  readonly publicRest: RestClient
  /** Requests a file, signed in. @throws Failure without a sign-in */
  readonly fetchFile: FetchFile
  /** Returns a valid credential, for connections of a command. @throws Failure without a sign-in */
  token(): Promise<string>
  /** Creates a client of the hub, signed in and not connected yet. Close it before the command ends. */
  hub(options?: Partial<HubClientOptions>): HubClient
  readonly out: Output
  readonly prompts: TerminalPrompts
  readonly env: Env
  /** Aborted by Ctrl-C. It ends every request. A command must end its other waits on it. */
  readonly signal: AbortSignal
  readonly terminal: Terminal
}

/** Creates the context of a command. @throws Failure for an invalid address or profile, or unreadable credentials */
export async function createContext(terminal: Terminal, options: GlobalOptions): Promise<Context> {
  const { env, stdout, stderr, signal } = terminal
  const coloured = options.color === false || env.NO_COLOR ? false : env.FORCE_COLOR ? true : undefined
  const out = createOutput({
    stdout,
    stderr,
    json: options.json === true,
    quiet: options.quiet === true,
    coloured,
  })
  const store = createCredentialStore(configDirectory(env))
  const identity = await resolveIdentity({ store, env, options, signal })
  const { server } = identity
  const requests = createRequests({ server, signal })
  const anonymous = createRestClient({ baseUrl: server, fetch: (request) => requests.send(request) })
  const signedIn = createRestClient({
    baseUrl: server,
    fetch: (request) => requests.sendAs(identity, request),
  })
  return {
    selectedProfile: options.profile ?? (env.WHEELHOUSE_PROFILE || undefined),
    server,
    identity,
    store,
    out,
    env,
    signal,
    terminal,
    prompts: createTerminalPrompts(terminal, out, options.yes === true),
    publicRest: anonymous,
    get rest() {
      identity.required()
      return signedIn
    },
    fetchFile: createFileRequests({ server, identity, requests }),
    token: () => identity.token(),
    hub: (more = {}) => createHubClient(identity, options.hub ?? (env.WHEELHOUSE_HUB_URL || server), more),
  }
}
