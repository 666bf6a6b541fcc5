import {
  type AuthProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import type { Context } from '../context.ts'
import { version } from '../version.ts'
import { McpForwarder } from './mcp-forwarder.ts'

/** The platform may be away when the client leaves: it is not waited for long. */
const GOODBYE_LIMIT_MS = 2_000

/** Forwards MCP between standard input and output and the platform until the input ends. */
export async function run(cli: Context): Promise<void> {
  // Said before the protocol begins: a client shows it as the reason why its server has not started.
  cli.identity.required()
  const local = new StdioServerTransport()
  const remote = new StreamableHTTPClientTransport(new URL('/api/mcp', cli.server), {
    authProvider: credentialOf(cli),
    requestInit: { headers: { 'User-Agent': `wheelhouse/${version}` } },
  })
  const leave = () => void local.close()
  cli.signal.addEventListener('abort', leave, { once: true })
  try {
    cli.signal.throwIfAborted()
    // Standard output carries the protocol and nothing else.
    const report = (text: string) => cli.out.note(text)
    await new McpForwarder({ local, remote, platform: cli.server, report }).run()
    await goodbye(remote)
  } finally {
    cli.signal.removeEventListener('abort', leave)
    await remote.close()
  }
  cli.signal.throwIfAborted()
}

/** The stored credential, renewed when the platform refuses it. */
function credentialOf({ token, identity }: Context): AuthProvider {
  let shown = ''
  return {
    token: async () => {
      shown = await token()
      return shown
    },
    onUnauthorized: async () => {
      if ((await identity.renewed(shown)) === undefined) throw new UnauthorizedError()
    },
  }
}

/** Tells the platform that its MCP session is over, where it has made one. */
async function goodbye(remote: StreamableHTTPClientTransport): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, GOODBYE_LIMIT_MS)
  await Promise.race([remote.terminateSession().catch(() => {}), late])
  clearTimeout(timer)
}
