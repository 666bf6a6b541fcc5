import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { McpForwarder } from '../../../packages/cli/mcp.ts'
import { cliProcess, createCliUser, endCommands, startCli } from '../../support/cli/terminal.ts'
import { createScriptedMcp } from '../../support/mcp/scripted-mcp.ts'
import { createTcpProxy } from '../../support/network/tcp-proxy.ts'
import { openSessionFixture } from '../../support/world/session-fixtures.ts'
import { createWorld, type World } from '../../support/world/world.ts'

// `wheelhouse mcp` when the input ends before the responses arrive, as in `printf … | wheelhouse mcp`.

afterAll(endCommands)

const initialize = {
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'pipe', version: '1' } },
}
const initialized = { method: 'notifications/initialized' }
const callOf = (id: number, name: string, args: object = {}) => ({
  id,
  method: 'tools/call',
  params: { name, arguments: args },
})
const linesOf = (...messages: object[]) =>
  messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('')
const userOf = (url: string, key = 'good') => createCliUser({ WHEELHOUSE_URL: url, WHEELHOUSE_API_KEY: key })
const answersIn = (stdout: string) =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

describe('with the platform', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld()
  })
  afterAll(async () => await world[Symbol.asyncDispose]())

  test('a stop from a pipe is executed and answered', async () => {
    const { operator, id } = await openSessionFixture(world)
    const user = await userOf(world.baseUrl, (await operator.key()).key)
    const stop = callOf(2, 'stop_robot', { sessionId: id, reason: 'smoke' })
    const { code, stdout, stderr } = await cliProcess(user, ['mcp'], linesOf(initialize, initialized, stop))
    expect(code, stderr).toBe(0)
    const [, answer] = answersIn(stdout).toSorted((item, other) => item.id - other.id)
    expect(answer).toMatchObject({ id: 2, result: { structuredContent: { status: 'PAUSED' } } })
    const { body } = await operator.get(`/api/sessions/${id}`)
    expect(body).toMatchObject({ status: 'PAUSED', control: { stop: { reason: 'smoke' } } })
  })

  test('a stop is executed also when its reader has closed', async () => {
    const { operator, id } = await openSessionFixture(world)
    const user = await userOf(world.baseUrl, (await operator.key()).key)
    const running = startCli(user, ['mcp'])
    running.child.stdout?.destroy()
    running.child.stdin?.end(linesOf(initialize, callOf(2, 'stop_robot', { sessionId: id })))
    await running.ended
    expect((await operator.get(`/api/sessions/${id}`)).body.control.stop).not.toBeNull()
  })
})

test('waits for a slow response', async () => {
  await using platform = await createScriptedMcp({
    slow: ({ body }, stream) => {
      // Responds after the input has ended.
      setTimeout(() => {
        stream.send({ id: body.id, result: { content: [] } })
        stream.end()
      }, 500)
    },
  })
  const input = linesOf(initialize, callOf(2, 'slow'))
  const { code, stdout } = await cliProcess(await userOf(platform.url), ['mcp'], input)
  expect(code).toBe(0)
  expect(answersIn(stdout).map(({ id }) => id)).toEqual([1, 2])
})

test('sets the exit code when the platform is unreachable or refuses the credential', async () => {
  await using platform = await createScriptedMcp({})
  await using proxy = await createTcpProxy(platform.url)
  proxy.cut()
  const input = linesOf(callOf(1, 'stop_robot'))
  const unreachable = await cliProcess(await userOf(proxy.url), ['mcp'], input)
  expect(unreachable.code).toBe(6)
  expect(answersIn(unreachable.stdout)).toMatchObject([
    { id: 1, error: { message: expect.stringContaining('reached') } },
  ])
  expect(unreachable.stderr).toContain("did not answer 1 of the client's requests")

  const revoked = await cliProcess(await userOf(platform.url, 'revoked'), ['mcp'], input)
  expect(revoked.code).toBe(3)
  expect(answersIn(revoked.stdout)).toMatchObject([{ id: 1, error: { data: { status: 401 } } }])
})

test('Ctrl-C ends the wait', async () => {
  await using platform = await createScriptedMcp({ hang: () => {} })
  const running = startCli(await userOf(platform.url), ['mcp'], linesOf(callOf(2, 'hang')))
  await platform.waitForMessage(({ body }) => body?.method === 'tools/call')
  running.signal('SIGINT')
  expect((await running.ended).code).toBe(130)
})

test('after the longest wait, unanswered requests get an error', async () => {
  await using platform = await createScriptedMcp({ hang: () => {} })
  const answers: object[] = []
  const local: ConstructorParameters<typeof McpForwarder>[0]['local'] = {
    start: async () => {
      local.onmessage?.({ jsonrpc: '2.0', ...callOf(7, 'hang') })
      local.onclose?.()
    },
  }
  const headers = { Authorization: 'Bearer good' }
  const forwarder = new McpForwarder({
    local,
    remote: new StreamableHTTPClientTransport(new URL(platform.url), { requestInit: { headers } }),
    write: async (message) => void answers.push(message),
    platform: platform.url,
    report: () => {},
    signal: new AbortController().signal,
    drainLimitMs: 50,
  })
  expect(await forwarder.run()).toEqual({ undelivered: 1, outcome: 'unreachable' })
  expect(answers).toMatchObject([
    { id: 7, error: { message: expect.stringContaining('no response within') } },
  ])
})
