import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { corrupt, signedInBrowser } from '../../support/cli/sign-in.ts'
import { type CliUser, cliProcess, createCliUser, endCommands, startCli } from '../../support/cli/terminal.ts'
import { createScriptedMcp } from '../../support/mcp/scripted-mcp.ts'
import { listening } from '../../support/network/listening.ts'
import { createTcpProxy } from '../../support/network/tcp-proxy.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

afterAll(endCommands)
const MAIN = fileURLToPath(new URL('../../../packages/cli/main.ts', import.meta.url))

/** Runs `wheelhouse mcp` with handwritten lines of JSON-RPC. */
function byHand(user: CliUser) {
  const running = startCli(user, ['mcp'])
  const answers = () =>
    running
      .stdout()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
  return {
    ...running,
    answers,
    send: (message: object) =>
      running.child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
    answerTo: (id: number) =>
      waitFor(() => {
        const answer = answers().find((message) => message.id === id && message.method === undefined)
        expect(answer, running.stderr()).toBeDefined()
        return answer
      }),
    end: () => {
      running.child.stdin?.end()
      return running.ended
    },
  }
}

const initialize = {
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'hand', version: '1' } },
}
const initialized = { method: 'notifications/initialized' }
const callOf = (id: number, name: string) => ({ id, method: 'tools/call', params: { name, arguments: {} } })
const userOf = (url: string, key = 'good') => createCliUser({ WHEELHOUSE_URL: url, WHEELHOUSE_API_KEY: key })

describe('wheelhouse mcp', () => {
  test('forwards all messages unchanged in both directions and ends with its input', async () => {
    await using platform = await createScriptedMcp({
      slow: ({ body }, stream) => {
        stream.send({ method: 'notifications/progress', params: { progressToken: body.id, progress: 0.5 } })
        stream.send({
          id: 'q-1',
          method: 'elicitation/create',
          params: { message: 'Sure?', requestedSchema: {} },
        })
        const reply = platform.waitForMessage((message) => message.body?.id === 'q-1')
        void reply.then((received) =>
          stream.send({ id: body.id, result: { content: [], reply: received.body.result } }),
        )
      },
    })
    const mcp = byHand(await userOf(platform.url))
    mcp.send(initialize)
    expect((await mcp.answerTo(1)).result).toMatchObject({
      protocolVersion: '2025-06-18',
      serverInfo: { name: 'script', version: '1' },
    })
    mcp.send(initialized)
    mcp.send({ id: 2, method: 'tools/list' })
    expect((await mcp.answerTo(2)).result).toMatchObject({
      tools: [{ name: 'slow' }],
      'x-unknown': { kept: true },
    })
    mcp.send({ id: 3, method: 'prompts/get', params: { name: 'none' } })
    const { error } = await mcp.answerTo(3)
    expect(error).toEqual({ code: -32602, message: 'No such thing', data: { asked: 'prompts/get' } })

    await waitFor(() => expect(platform.feed()).toBeDefined())
    platform.feed()?.send({ method: 'notifications/tools/list_changed' })
    mcp.send(callOf(4, 'slow'))
    const question = await waitFor(() => {
      const found = mcp.answers().find(({ id }) => id === 'q-1')
      expect(found).toMatchObject({ method: 'elicitation/create', params: { message: 'Sure?' } })
      return found
    })
    mcp.send({ id: question.id, result: { action: 'accept' } })
    expect((await mcp.answerTo(4)).result.reply).toEqual({ action: 'accept' })
    const notifications = mcp.answers().filter(({ id }) => id === undefined)
    expect(notifications.map(({ method }) => method).sort()).toEqual([
      'notifications/progress',
      'notifications/tools/list_changed',
    ])

    const { code, stderr } = await mcp.end()
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const { received, sessionId } = platform
    expect(received.at(-1)).toMatchObject({ method: 'DELETE', headers: { 'mcp-session-id': sessionId } })
    expect(received.map(({ body }) => body?.method).slice(0, 3)).toContain('notifications/initialized')
    for (const { headers } of received) expect(headers['user-agent']).toMatch(/^wheelhouse\//)
    expect(received[3]?.headers).toMatchObject({
      'mcp-session-id': sessionId,
      'mcp-protocol-version': '2025-06-18',
    })
  })

  test('answers every request while the platform is unreachable, and continues afterwards', async () => {
    await using platform = await createScriptedMcp({
      // Breaks in the middle of a response.
      broken: ({ body }, stream) => {
        stream.send({ method: 'notifications/progress', params: { progressToken: body.id, progress: 0.5 } })
        setTimeout(() => stream.destroy(), 20)
      },
      busy: (_message, _stream, response) => {
        response
          .writeHead(503, { 'Content-Type': 'application/json' })
          .end('{"error":"The database is away"}')
      },
      fine: ({ body }, stream) => {
        stream.send({ id: body.id, result: { content: [] } })
        stream.end()
      },
    })
    await using proxy = await createTcpProxy(platform.url)
    proxy.cut()
    const mcp = byHand(await userOf(proxy.url))
    mcp.send(initialize)
    expect((await mcp.answerTo(1)).error).toMatchObject({
      code: -32000,
      message: expect.stringMatching(/^http:.* cannot be reached: .* Try again later$/),
    })
    proxy.restore()
    mcp.send({ ...initialize, id: 2 })
    expect((await mcp.answerTo(2)).result).toBeDefined()
    mcp.send(callOf(3, 'broken'))
    expect((await mcp.answerTo(3)).error.message).toContain('the connection ended before the response')
    mcp.send(callOf(4, 'busy'))
    expect((await mcp.answerTo(4)).error).toMatchObject({
      code: -32000,
      message: expect.stringContaining('answered 503: The database is away'),
      data: { status: 503 },
    })
    mcp.child.stdin?.write('not JSON\n')
    mcp.send(callOf(5, 'fine'))
    expect((await mcp.answerTo(5)).result).toEqual({ content: [] })
    const { code, stderr } = await mcp.end()
    expect(code).toBe(6) // three requests have an unknown outcome
    expect(stderr).toContain('cannot be reached')
  })

  test('cancels a request on the platform and does not answer it', async () => {
    await using platform = await createScriptedMcp({ hang: () => {} })
    const mcp = byHand(await userOf(platform.url))
    mcp.send(initialize)
    await mcp.answerTo(1)
    mcp.send(callOf(2, 'hang'))
    const hanging = await platform.waitForMessage(({ body }) => body?.method === 'tools/call')
    mcp.send({ method: 'notifications/cancelled', params: { requestId: 2 } })
    await platform.waitForMessage(({ body }) => body?.method === 'notifications/cancelled')
    await hanging.closed
    mcp.send({ id: 3, method: 'tools/list' })
    await mcp.answerTo(3)
    expect(mcp.answers().map(({ id }) => id)).toEqual([1, 3])
  })

  test('Ctrl-C ends it at once, also while the platform does not respond', async () => {
    await using platform = await createScriptedMcp({ hang: () => {} })
    await using proxy = await createTcpProxy(platform.url)
    const mcp = byHand(await userOf(proxy.url))
    mcp.send(initialize)
    await mcp.answerTo(1)
    proxy.silence()
    mcp.send(callOf(2, 'hang'))
    mcp.signal('SIGINT')
    const { code, stdout } = await mcp.ended
    expect(code).toBe(130)
    expect(stdout.split('\n')).toHaveLength(2)
  })

  test('prints how to sign in without a valid credential', async () => {
    await using platform = await createScriptedMcp({})
    const signedOut = await cliProcess(await createCliUser({ WHEELHOUSE_URL: platform.url }), ['mcp'])
    expect(signedOut).toMatchObject({ code: 3, stdout: '' })
    expect(signedOut.stderr).toContain('wheelhouse login')
    expect(platform.received).toEqual([])

    const mcp = byHand(await userOf(platform.url, 'revoked'))
    mcp.send(initialize)
    expect((await mcp.answerTo(1)).error).toMatchObject({
      message: expect.stringContaining('wheelhouse login'),
      data: { status: 401 },
    })
    expect((await mcp.end()).code).toBe(3)
    expect(platform.received).toHaveLength(1) // an API key is not tried twice
  })

  test('renews a sign-in that the platform refuses and continues', async () => {
    await using platform = await createScriptedMcp({})
    platform.accepted.delete('good')
    await using provider = await listening((request, response) => {
      platform.accepted.add('renewed')
      const tokens = { access_token: 'renewed', token_type: 'Bearer', expires_in: 300, refresh_token: 'next' }
      request.resume()
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(tokens))
    })
    const token_endpoint = `${provider.url}/token`
    const user = await signedIn(platform.url, 'spent', { refresh_token: 'first', token_endpoint })
    const mcp = byHand(user)
    mcp.send(initialize)
    expect((await mcp.answerTo(1)).result).toBeDefined()
    const shown = platform.received.map(({ headers }) => headers.authorization)
    expect(shown).toEqual(['Bearer spent', 'Bearer renewed'])
  })
})

/** Creates a user with a stored sign-in. */
async function signedIn(server: string, token: string, more: object = {}): Promise<CliUser> {
  const user = await createCliUser({})
  const credential = {
    kind: 'session',
    token,
    use: 'access_token',
    client_id: 'test',
    issuer: server,
    expires_at: new Date(Date.now() + 600_000).toISOString(),
    token_endpoint: `${server}/token`,
    ...more,
  }
  const folder = join(user.configHome, 'wheelhouse')
  await mkdir(folder, { mode: 0o700 })
  const file = { version: 1, current: 'default', profiles: { default: { server, credential } } }
  await writeFile(join(folder, 'credentials.json'), JSON.stringify(file), { mode: 0o600 })
  return user
}

/** Starts a real MCP client that runs `wheelhouse mcp` as its server. */
async function connected(user: CliUser, mcpVersion: '2025' | '2026') {
  const versionNegotiation =
    mcpVersion === '2026' ? { mode: { pin: '2026-07-28' } } : ({ mode: 'legacy' } as const)
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation })
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, 'mcp'],
    env: { ...user.env },
    stderr: 'pipe',
  })
  await client.connect(transport)
  onTestFinished(() => client.close())
  return {
    client,
    async use(name: string, given: Record<string, unknown> = {}) {
      const { content, structuredContent, isError } = await client.callTool({ name, arguments: given })
      // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came over the wire and asserts on it
      return { content, isError: isError === true, body: structuredContent as any }
    },
  }
}

describe('wheelhouse mcp with the platform', () => {
  let world: World
  beforeAll(async () => {
    // On a busy machine, the robots' heartbeats are late too.
    world = await createWorld({ env: { HEARTBEAT_TIMEOUT_MS: '20000' } })
  })
  afterAll(async () => await world[Symbol.asyncDispose]())

  /** Creates an operator who is certified for the online robot. */
  async function fixture() {
    const [owner, operator] = [await world.client(), await world.operator()]
    const robot = await world.robot(owner)
    const asked = await operator.post('/api/operator/certifications', { robot_type: 'testbot' })
    await (await world.admin()).post(`/api/admin/certifications/${asked.body.id}/approve`)
    const link = (await world.connect(robot)).beat()
    return { owner, operator, robot, link }
  }

  test.each([
    ['2025', 'API key'],
    ['2026', 'API key'],
    ['2025', 'signed-in token'],
    ['2026', 'signed-in token'],
  ] as const)('a client of %s lists, starts, watches and ends a session (%s)', async (mcpVersion, kind) => {
    const { owner, operator, robot, link } = await fixture()
    const user =
      kind === 'API key'
        ? await userOf(world.baseUrl, (await operator.key()).key)
        : await signedIn(world.baseUrl, operator.token)
    const { client, use } = await connected(user, mcpVersion)
    expect(client.getServerVersion()).toMatchObject({ name: 'wheelhouse' })
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('start_session')
    expect((await client.listResources()).resources.length).toBeGreaterThan(0)
    expect((await client.listPrompts()).prompts.length).toBeGreaterThan(0)
    const listed = await use('list_available_robots', { limit: 50 })
    expect(listed.body.robots.map(({ id }: { id: string }) => id)).toContain(robot.id)

    const { sessionId } = (await use('start_session', { robotId: robot.id })).body
    await owner.post(`/api/sessions/${sessionId}/messages`, { body: 'Mind the vase' })
    const { events } = (await use('list_session_events', { sessionId, after: 1 })).body
    expect(events).toMatchObject([{ type: 'chat.message' }])
    expect((await use('end_session', { sessionId, reason: 'done' })).body).toMatchObject({
      status: 'COMPLETED',
    })
    expect((await operator.get(`/api/sessions/${sessionId}`)).body.status).toBe('COMPLETED')

    // Refuses with the same message as REST.
    const again = await use('end_session', { sessionId })
    const rest = await operator.patch(`/api/sessions/${sessionId}`, { action: 'end' })
    expect(rest.status).toBe(409)
    expect(again.isError).toBe(true)
    expect(JSON.stringify(again.content)).toContain(rest.body.error)
    const own = { name: 'Mine', robot_type: 'testbot', hardware_id: 'b' }
    const forbidden = await operator.post('/api/client/robots', own)
    expect(forbidden.status).toBe(403)
    const foreign = await use('register_robot', own)
    expect(foreign.isError).toBe(true)
    expect(JSON.stringify(foreign.content)).toContain(forbidden.body.error)
    link.close()
  })

  test('a browser sign-in is renewed at its provider, and refused when that fails', async () => {
    const { user } = await signedInBrowser(world, 'mcp@example.com')
    await corrupt(user, { token: 'of.another.clock' })
    const { use } = await connected(user, '2026')
    expect((await use('get_profile')).body).toMatchObject({ email: 'mcp@example.com' })
    await corrupt(user, { token: 'of.another.clock', refresh_token: 'spent long ago' })
    const late = await connected(user, '2025').catch((cause: Error) => cause)
    expect(late).toMatchObject({ message: expect.stringContaining('wheelhouse login') })
  })

  test('a revoked key is refused', async () => {
    const { operator, link } = await fixture()
    const { id, key } = await operator.key()
    const { use } = await connected(await userOf(world.baseUrl, key), '2026')
    expect((await use('list_sessions')).isError).toBe(false)
    await operator.delete(`/api/auth/api-keys/${id}`)
    await waitFor(() => expect(use('list_sessions')).rejects.toThrow('wheelhouse login'))
    link.close()
  })
})
