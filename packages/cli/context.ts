import { createRestClient, type HubClient, type HubClientOptions, type RestClient } from '@wheelhouse/sdk'
import { configDirectory, type Env } from './credentials/config-directory.ts'
import { type Identity, resolveIdentity } from './credentials/identity.ts'
import { type CredentialStore, createCredentialStore } from './credentials/store.ts'
import type { GlobalOptions } from './global-options.ts'
import { createHubClient } from './hub.ts'
import { createOutput, type Output } from './output.ts'
import { createTerminalPrompts, type TerminalPrompts } from './prompts.ts'
import { createRequests } from './requests.ts'
import type { Terminal } from './terminal.ts'

/** What every command gets. */
export interface Context {
  /** Origin of the platform, such as `https://hub.example`. */
  readonly server: string
  /** The profile that `--profile` names. */
  readonly selectedProfile: string | undefined
  /** Who one is there; from the environment or from the stored credentials. */
  readonly identity: Identity
  readonly store: CredentialStore
  /** The REST API, signed in. Hand what its methods return to `answerOf`. @throws Failure when nobody is */
  readonly rest: RestClient
  /** The REST API without a credential, for what is public. */
  readonly publicRest: RestClient
  /** A credential that is good now, for connections of one's own. @throws Failure when nobody is signed in */
  token(): Promise<string>
  /** A client of the hub, signed in, not connected yet. Close it before the command ends. */
  hub(options?: Partial<HubClientOptions>): HubClient
  readonly out: Output
  readonly prompts: TerminalPrompts
  readonly env: Env
  /** Aborted by Ctrl-C. Every request ends with it; whatever else waits must heed it. */
  readonly signal: AbortSignal
  readonly terminal: Terminal
}

/** @throws Failure for an address or a profile that cannot be meant, and for credentials that cannot be read */
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
    token: () => identity.token(),
    hub: (more = {}) => createHubClient(identity, options.hub ?? (env.WHEELHOUSE_HUB_URL || server), more),
  }
}
