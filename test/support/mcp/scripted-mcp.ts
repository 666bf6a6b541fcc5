import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A received message with its context. */
export interface Received {
  readonly method: string
  readonly headers: IncomingMessage['headers']
  // biome-ignore lint/suspicious/noExplicitAny: a test asserts on arbitrary received data
  readonly body: any
  /** Settles when the client has cancelled its request. */
  readonly closed: Promise<unknown>
}

const SESSION_ID = 'session-of-the-script'

/**
 * Creates an MCP server with sessions, streams, and server requests, controlled by a test. `call` answers tool calls by the
 * name of the tool, and may keep the response open as a stream of events.
 */
export async function createScriptedMcp(
  call: Record<
    string,
    (message: Received, stream: ReturnType<typeof eventStream>, response: ServerResponse) => void
  >,
) {
  const received: Received[] = []
  const waiting = new Map<(message: Received) => boolean, (message: Received) => void>()
  const accepted = new Set(['good'])
  let feed: ReturnType<typeof eventStream> | undefined

  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk
    const body = text === '' ? undefined : JSON.parse(text)
    const { method = '', headers } = request
    const message = { method, headers, body, closed: once(response, 'close') }
    received.push(message)
    for (const [fits, emitEvent] of waiting) if (fits(message)) emitEvent(message)
    if (!accepted.has(headers.authorization?.replace('Bearer ', '') ?? '')) {
      return response.writeHead(401, { 'Content-Type': 'application/json' }).end('{"error":"Unknown key"}')
    }
    if (method === 'GET') feed = eventStream(response)
    else if (method === 'DELETE') response.writeHead(204).end()
    else answer(message, response)
  })

  function answer(message: Received, response: ServerResponse): void {
    const { body } = message
    const json = (value: object, headers = {}) =>
      response
        .writeHead(200, { 'Content-Type': 'application/json', ...headers })
        .end(JSON.stringify({ jsonrpc: '2.0', id: body.id, ...value }))
    if (body.id === undefined || body.method === undefined) return void response.writeHead(202).end()
    if (body.method === 'initialize') {
      const { protocolVersion } = body.params
      const capabilities = { tools: { listChanged: true }, resources: {}, prompts: {}, logging: {} }
      const result = { protocolVersion, capabilities, serverInfo: { name: 'script', version: '1' } }
      return void json({ result }, { 'Mcp-Session-Id': SESSION_ID })
    }
    if (body.method === 'tools/list') {
      const tools = Object.keys(call).map((name) => ({ name, inputSchema: { type: 'object' } }))
      return void json({ result: { tools, 'x-unknown': { kept: true } } })
    }
    if (body.method === 'tools/call') {
      const performAction = call[body.params.name]
      if (performAction) return performAction(message, eventStream(response), response)
    }
    json({ error: { code: -32602, message: 'No such thing', data: { asked: body.method } } })
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    /** Valid credentials. */
    accepted,
    sessionId: SESSION_ID,
    /** Settles with the first matching message. */
    waitForMessage(fits: (message: Received) => boolean): Promise<Received> {
      const known = received.find(fits)
      return known ? Promise.resolve(known) : new Promise((emitEvent) => waiting.set(fits, emitEvent))
    },
    /** The stream for messages of the server; undefined while no client listens. */
    feed: () => feed,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

/** Sends server-sent events; the first one begins the response. */
function eventStream(response: ServerResponse) {
  const begin = () => {
    if (!response.headersSent) response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    response.flushHeaders()
  }
  if (response.req.method === 'GET') begin()
  return {
    send(message: object) {
      begin()
      response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`)
    },
    end: () => response.end(),
    /** Breaks the stream, as a crash of the server does. */
    destroy: () => response.destroy(),
  }
}
