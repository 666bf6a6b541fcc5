import { afterAll, beforeAll, expect, test } from 'vitest'
import { ask } from '../../support/network/http-request.ts'
import { openSessionFixture } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const PER_MINUTE = 20

let world: World
beforeAll(async () => {
  world = await createWorld({
    env: {
      RATE_LIMIT_PER_MINUTE: String(PER_MINUTE),
      RATE_LIMIT_PUBLIC_PER_MINUTE: '100',
      METRICS_TOKEN: 'a token for metrics',
    },
  })
})
afterAll(() => world[Symbol.asyncDispose]())

const call = (token: string, name: string, given: object = {}) =>
  ask(`${world.baseUrl}/api/mcp`, {
    method: 'POST',
    token,
    headers: { Accept: 'application/json, text/event-stream' },
    body: { jsonrpc: '2.0', id: 'mine', method: 'tools/call', params: { name, arguments: given } },
  })
/** Repeats a call until it exceeds the limit and returns the refusal. */
async function exhaust(ask: () => ReturnType<typeof call>) {
  for (let asked = 0; asked <= PER_MINUTE; asked++) {
    const reply = await ask()
    if (reply.status !== 200) return reply
  }
  throw new Error('The limit was never reached')
}
const metrics = async (name: string) => {
  const { body } = await ask(`${world.baseUrl}/metrics`, { token: 'a token for metrics' })
  return String(body)
    .split('\n')
    .filter((line) => line.startsWith(name))
}

test('tools count towards the limits of their routes, and a stop towards none', async () => {
  const { client, operator, id, robotId } = await openSessionFixture(world)
  const { key } = await client.key()
  const refused = await exhaust(() => call(key, 'get_profile'))
  expect(refused).toMatchObject({
    status: 429,
    body: {
      jsonrpc: '2.0',
      id: 'mine',
      error: { code: -32_000, message: expect.stringMatching(/^Too many/) },
    },
  })
  expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0)
  expect(refused.headers.get('RateLimit-Policy')).toBe(`"default";q=${PER_MINUTE};w=60`)
  // REST and MCP share one limit.
  expect((await ask(`${world.baseUrl}/api/auth/profile`, { token: key })).status).toBe(429)

  // Actions on sessions have a separate limit.
  const callAction = () => call(key, 'cancel_session', { sessionId: id })
  expect((await callAction()).headers.get('RateLimit-Policy')).toMatch(/^"sessions"/)
  expect(await exhaust(callAction)).toMatchObject({ status: 429 })

  const stop = await call(key, 'stop_robot', { sessionId: id, reason: 'smoke' })
  expect(stop.status).toBe(200)
  expect(String(stop.body)).toContain('"reason":"smoke"')
  expect(await status(operator, id)).toBe('PAUSED')
  const overRest = (user: TestUser, token = user.token) =>
    user.request('PATCH', `/api/sessions/${id}`, { action: 'emergency_stop' }, token)
  expect((await overRest(client, key)).status).toBe(200)
  // Named by the robot, it is a stop too.
  const stopsRobot = (token: string) => call(token, 'stop_robot', { robot: robotId })
  expect((await stopsRobot(key)).status).toBe(200)

  // Attempts of others count.
  const { token } = await world.operator()
  expect(await exhaust(() => call(token, 'stop_robot', { sessionId: id }))).toMatchObject({ status: 429 })
  expect((await overRest(client, token)).status).toBe(429)
  expect(await exhaust(() => stopsRobot(token))).toMatchObject({ status: 429 })
})

const status = async (user: TestUser, id: string) => (await user.get(`/api/sessions/${id}`)).body.status

test('bad credentials are counted', async () => {
  const wrong = () => call('svc_live_wrong', 'get_profile')
  for (let tries = 0; tries < 20; tries++) {
    const { status } = await wrong()
    if (status === 429) return
    expect(status).toBe(401)
  }
  throw new Error('The limit was never reached')
})

test('metrics count the methods and the tools, and reveal no arguments', async () => {
  const client = await world.client()
  await call(client.token, 'list_sessions')
  await call(client.token, 'get_session', { sessionId: 'secret words' })
  await call(client.token, 'made_up_secret')
  const used = await metrics('wheelhouse_mcp_tool_calls_total')
  expect(used).toContain('wheelhouse_mcp_tool_calls_total{tool="list_sessions",outcome="done"} 1')
  expect(used).toContain('wheelhouse_mcp_tool_calls_total{tool="get_session",outcome="refused"} 1')
  expect(
    await metrics('wheelhouse_http_requests_total{method="POST",route="/api/mcp",status="200"}'),
  ).toHaveLength(1)
  expect((await metrics('')).join('\n')).not.toContain('secret')
})
