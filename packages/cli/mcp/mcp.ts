import {
  type AuthProvider,
  type JSONRPCMessage,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { CommandAborted } from '../command-aborted.ts'
import type { Context } from '../context.ts'
import { Failure } from '../failure.ts'
import { version } from '../version.ts'
import { McpForwarder } from './mcp-forwarder.ts'

/** Short, because the platform may be unreachable when the client exits. */
const TERMINATE_TIMEOUT_MS = 2_000

/**
 * Forwards MCP between standard input and output and the platform. After the end of the input, still forwards and
 * answers all requests that it has read: a stop that came through a pipe must not get lost.
 * @throws Failure when the platform did not answer a request
 */
export async function run(cli: Context): Promise<void> {
  // Throws before the protocol begins: a client shows the message as the reason why its server has not started.
  cli.identity.required()
  const local = new StdioServerTransport()
  const remote = new StreamableHTTPClientTransport(new URL('/api/mcp', cli.server), {
    authProvider: credentialOf(cli),
    requestInit: { headers: { 'User-Agent': `wheelhouse/${version}` } },
  })
  const interrupted = new AbortController()
  const leave = () => {
    // A client that has closed its output may still wait for its requests to be executed.
    const reads = !(cli.signal.reason instanceof CommandAborted && cli.signal.reason.outcome === 'done')
    if (reads) interrupted.abort(cli.signal.reason)
    void local.close()
  }
  cli.signal.addEventListener('abort', leave, { once: true })
  try {
    cli.signal.throwIfAborted()
    // Standard output carries the protocol and nothing else.
    const report = (text: string) => cli.out.note(text)
    const write = (message: JSONRPCMessage) => writeLine(cli, message)
    const { server: platform } = cli
    const forwarder = new McpForwarder({ local, write, remote, platform, report, signal: interrupted.signal })
    const { undelivered, outcome } = await forwarder.run()
    await terminateSession(remote)
    interrupted.signal.throwIfAborted()
    if (undelivered > 0)
      throw new Failure(outcome, `The platform did not answer ${undelivered} of the client's requests.`)
  } finally {
    cli.signal.removeEventListener('abort', leave)
    await remote.close()
  }
  cli.signal.throwIfAborted()
}

/** Writes one message to standard output, also when standard input has ended. */
function writeLine({ terminal }: Context, message: JSONRPCMessage): Promise<void> {
  return new Promise((resolve, reject) =>
    terminal.stdout.write(`${JSON.stringify(message)}\n`, (cause) => (cause ? reject(cause) : resolve())),
  )
}

/** Returns a provider of the stored credential, which renews it when the platform refuses it. */
function credentialOf({ token, identity }: Context): AuthProvider {
  let lastToken = ''
  return {
    token: async () => {
      lastToken = await token()
      return lastToken
    },
    onUnauthorized: async () => {
      if ((await identity.renewed(lastToken)) === undefined) throw new UnauthorizedError()
    },
  }
}

/** Terminates the MCP session on the platform, if one exists. */
async function terminateSession(remote: StreamableHTTPClientTransport): Promise<void> {
  const { promise: timedOut, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, TERMINATE_TIMEOUT_MS)
  await Promise.race([remote.terminateSession().catch(() => {}), timedOut])
  clearTimeout(timer)
}
