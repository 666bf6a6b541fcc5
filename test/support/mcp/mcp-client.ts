import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

export type ProtocolVersion = '2025' | '2026'

/** A tool's answer, prepared for assertions. */
export interface ToolReply {
  /** The status that REST would have answered: 200 for success. */
  readonly status: number
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: a test asserts on arbitrary received data
  readonly body: any
  readonly replayed: boolean
}

/** Creates a real MCP client, connected with a credential; by default of the protocol version of 2026. */
export async function connectMcp(
  baseUrl: string,
  credential: string,
  protocolVersion: ProtocolVersion = '2026',
) {
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: protocolVersion === '2026' ? { mode: { pin: '2026-07-28' } } : { mode: 'legacy' } },
  )
  const transport = new StreamableHTTPClientTransport(new URL('/api/mcp', baseUrl), {
    requestInit: { headers: { Authorization: `Bearer ${credential}` } },
  })
  await client.connect(transport)
  return {
    client,
    toolNames: async () => (await client.listTools()).tools.map(({ name }) => name),

    async use(name: string, given: Record<string, unknown> = {}): Promise<ToolReply> {
      const result = await client.callTool({ name, arguments: given })
      const [first] = result.content
      const text = first?.type === 'text' ? first.text : ''
      const { 'wheelhouse/status': status = 200, 'wheelhouse/replayed': replayed = false } =
        result._meta ?? {}
      if (result.isError !== (status !== 200 || undefined))
        throw new Error(`${name}: ${JSON.stringify(result)}`)
      return { status: Number(status), text, body: result.structuredContent, replayed: replayed === true }
    },
    [Symbol.asyncDispose]: () => client.close(),
  }
}
export type McpClient = Awaited<ReturnType<typeof connectMcp>>
