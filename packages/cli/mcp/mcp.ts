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

/** The platform may be away when the client leaves: it is not waited for long. */
const TERMINATE_TIMEOUT_MS = 2_000

/**
 * Forwards MCP between standard input and output and the platform. When the input ends, what was read from it is still
 * carried out and answered: a stop that came through a pipe must not get lost.
 * @throws Failure when a request got no answer of the platform
 */
export async function run(cli: Context): Promise<void> {
  // Said before the protocol begins: a client shows it as the reason why its server has not started.
  cli.identity.required()
  const local = new StdioServerTransport()
  const remote = new StreamableHTTPClientTransport(new URL('/api/mcp', cli.server), {
    authProvider: credentialOf(cli),
    requestInit: { headers: { 'User-Agent': `wheelhouse/${version}` } },
  })
  const interrupted = new AbortController()
  const leave = () => {
    // A client that reads no more has still sent what it has sent.
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
    if (undelivered > 0) throw new Failure(outcome, `${undelivered} of the client's requests got no answer.`)
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

/** The stored credential, renewed when the platform refuses it. */
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

/** Tells the platform that its MCP session is over, where it has made one. */
async function terminateSession(remote: StreamableHTTPClientTransport): Promise<void> {
  const { promise: timedOut, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, TERMINATE_TIMEOUT_MS)
  await Promise.race([remote.terminateSession().catch(() => {}), timedOut])
  clearTimeout(timer)
}
