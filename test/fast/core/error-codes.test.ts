import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ApiError, answerOf, createRestClient } from '../../../packages/sdk/index.ts'
import { createApp } from '../../../src/core/http/app.ts'
import { endpoint } from '../../../src/core/http/endpoint.ts'
import { listen } from '../../../src/core/http/listener.ts'
import { attempt } from '../../support/gateway/upgrade.ts'
import { ask } from '../../support/network/http-request.ts'
import { openSessionFixture } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const PAGE = 'https://console.example'
const ROBOTS = '/api/client/robots'

let world: World
let owner: TestUser
beforeAll(async () => {
  world = await createWorld({ env: { CORS_ORIGINS: PAGE } })
  owner = await world.client()
})
afterAll(() => world[Symbol.asyncDispose]())

const send = async (path: string, options: Parameters<typeof ask>[1] = {}) => {
  const { status, headers } = await ask(world.baseUrl + path, options)
  return [status, headers.get('Wheelhouse-Error')]
}

describe('an error of the REST API carries its code in the header', () => {
  test('for invalid input', async () => {
    const { token } = owner
    expect(await send(ROBOTS, { method: 'POST', token, body: {} })).toEqual([400, 'invalid_request'])
    expect(await send(ROBOTS, { method: 'POST', token, body: '{' })).toEqual([400, 'invalid_request'])
    expect(await send('/api/sessions/%zz', { token })).toEqual([400, 'invalid_request'])
    const headers = { 'Content-Type': 'text/plain' }
    expect(await send(ROBOTS, { method: 'POST', token, headers, body: 'x' })).toEqual([
      415,
      'unsupported_media_type',
    ])
    const body = { name: 'x'.repeat(300_000) }
    expect(await send(ROBOTS, { method: 'POST', token, body })).toEqual([413, 'payload_too_large'])
  })

  test('for a missing, unknown, expired or revoked credential', async () => {
    expect(await send(ROBOTS)).toEqual([401, 'unauthenticated'])
    expect(await send(ROBOTS, { token: 'no.jwt.atall' })).toEqual([401, 'token_invalid'])
    expect(await send(ROBOTS, { token: 'svc_live_nobody' })).toEqual([401, 'api_key_invalid'])
    const { id, key } = await owner.key()
    await owner.delete(`/api/auth/api-keys/${id}`)
    expect(await send(ROBOTS, { token: key })).toEqual([401, 'api_key_revoked'])
  })

  test('for a missing permission', async () => {
    const { token } = owner
    expect(await send('/api/admin/audit', { token })).toEqual([403, 'role_required'])
    const { key } = await owner.key()
    expect(await send('/api/auth/api-keys', { token: key })).toEqual([403, 'api_key_not_accepted'])
    const headers = { Cookie: `__session=${token}`, Origin: 'https://evil.example' }
    expect(await send(ROBOTS, { method: 'POST', headers, body: {} })).toEqual([403, 'origin_not_allowed'])
  })

  test('for a conflict', async () => {
    const { robot, owner: client, operator } = await openSessionFixture(world)
    const start = { method: 'POST', token: operator.token, body: { robotId: robot.id } }
    expect(await send('/api/sessions', start)).toEqual([409, 'robot_in_session'])
    expect(await send(`${ROBOTS}/${robot.id}`, { method: 'DELETE', token: client.token })).toEqual([
      409,
      'robot_in_session',
    ])
  })

  test('for an Idempotency-Key with another body', async () => {
    const robot = { name: 'a', robot_type: 'b', hardware_id: randomUUID() }
    const headers = { 'Idempotency-Key': randomUUID() }
    const post = (body: object) => send(ROBOTS, { method: 'POST', token: owner.token, headers, body })
    expect((await post(robot))[0]).toBe(201)
    expect(await post({ ...robot, name: 'other' })).toEqual([422, 'idempotency_key_reused'])
  })

  test('for an unknown resource, an unknown path and another method', async () => {
    const { token } = owner
    expect(await send(`${ROBOTS}/${randomUUID()}`, { token })).toEqual([404, 'not_found'])
    expect(await send('/api/nothing', { token })).toEqual([404, 'route_not_found'])
    expect(await send(ROBOTS, { method: 'PUT', token })).toEqual([405, 'method_not_allowed'])
    expect(await send('/livez', { method: 'POST' })).toEqual([405, 'method_not_allowed'])
    expect(await send(ROBOTS, { method: 'PUT', token })).toEqual([405, 'method_not_allowed'])
  })

  test('for payments that are not configured', async () => {
    const reply = await send('/api/payments/customer', { method: 'POST', token: owner.token })
    expect(reply).toEqual([503, 'payments_not_configured'])
  })

  test('and a page of an allowed origin can read it', async () => {
    const reply = await ask(`${world.baseUrl}/api/nothing`, { headers: { Origin: PAGE } })
    expect(reply.headers.get('Access-Control-Expose-Headers')?.split(',')).toContain('Wheelhouse-Error')
  })

  test('and the SDK returns it as the code of an ApiError', async () => {
    const rest = createRestClient({ baseUrl: world.baseUrl, token: owner.token })
    const failed = answerOf(rest.GET('/api/admin/audit')).catch((cause: unknown) => cause)
    expect(await failed).toMatchObject({ status: 403, code: 'role_required' })
    const unreachable = createRestClient({
      baseUrl: world.baseUrl,
      fetch: () => Promise.reject(new TypeError('fetch failed')),
    })
    const cause = await answerOf(unreachable.GET('/api/health')).catch((thrown: unknown) => thrown)
    expect(cause).toBeInstanceOf(ApiError)
    expect(cause).toMatchObject({ status: 0, code: undefined })
  })
})

test('an error of the MCP endpoint carries a code', async () => {
  const post = (body: unknown, more: Parameters<typeof ask>[1] = {}) =>
    send('/api/mcp', {
      method: 'POST',
      token: owner.token,
      headers: { Accept: 'application/json, text/event-stream', ...more.headers },
      body,
    })
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
  expect(await send('/api/mcp', { method: 'POST', body: ping })).toEqual([401, 'unauthenticated'])
  expect(await send('/api/mcp', { token: owner.token })).toEqual([405, 'method_not_allowed'])
  expect(await post(ping, { headers: { Origin: 'https://evil.example' } })).toEqual([
    403,
    'origin_not_allowed',
  ])
  expect(await post('{')).toEqual([400, 'invalid_request'])
  expect(await post([ping])).toEqual([400, 'invalid_request'])
  expect(await post({ nonsense: true })).toEqual([400, 'invalid_request'])
  expect((await post(ping))[1]).toBeNull()
})

test('an unexpected failure is an internal_error', async () => {
  const failing = endpoint({
    method: 'get',
    path: '/failing',
    summary: 'Fails',
    access: 'public',
    response: [204],
    run: async () => {
      throw new Error('a secret')
    },
  })
  const app = createApp({
    corsOrigins: [],
    trustedProxies: 0,
    https: false,
    before: [],
    endpoints: [failing],
    log: pino({ level: 'silent' }),
    authenticate: async () => undefined,
  })
  const server = createServer(app.callback())
  await new Promise<void>((done) => server.listen(0, done))
  try {
    const reply = await ask(`http://localhost:${(server.address() as AddressInfo).port}/failing`)
    expect([reply.status, reply.headers.get('Wheelhouse-Error')]).toEqual([500, 'internal_error'])
  } finally {
    server.close()
  }
})

test('a server that is starting answers not_ready', async () => {
  const listener = await listen('127.0.0.1', 0, 'PORT')
  try {
    const reply = await ask(`http://127.0.0.1:${listener.port}/api/health`)
    expect([reply.status, reply.headers.get('Wheelhouse-Error')]).toEqual([503, 'not_ready'])
  } finally {
    await listener.close(1_000)
  }
})

describe('a refusal of the gateway carries its code in the header', () => {
  const upgrade = async (path: string, headers: Record<string, string>) => {
    const reply = await attempt(world.gatewayUrl + path, { headers })
    return [reply.status, reply.headers['wheelhouse-error']]
  }

  test('for an upgrade', async () => {
    const path = `/robots/${randomUUID()}/control`
    expect(await upgrade(path, {})).toEqual([401, 'robot_token_invalid'])
    expect(await upgrade(path, { Origin: 'https://evil.example' })).toEqual([403, 'origin_not_allowed'])
    expect(await upgrade(`/sessions/${randomUUID()}/watch`, {})).toEqual([401, 'ticket_invalid'])
    const robot = await world.robot(owner)
    expect(await upgrade(path, { Authorization: `Bearer ${robot.token}` })).toEqual([
      403,
      'robot_token_mismatch',
    ])
  })

  test('for plain HTTP', async () => {
    const origin = world.gatewayUrl.replace(/^ws/, 'http')
    const codeOf = async (path: string, method = 'GET') => {
      const { status, headers } = await ask(origin + path, { method })
      return [status, headers.get('Wheelhouse-Error')]
    }
    expect(await codeOf('/nothing')).toEqual([404, 'route_not_found'])
    expect(await codeOf('/livez', 'POST')).toEqual([405, 'method_not_allowed'])
  })
})
