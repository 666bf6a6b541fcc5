import { request as httpRequest } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectMcp } from '../../support/mcp/mcp-client.ts'
import { ask } from '../../support/network/http-request.ts'
import { openSessionFixture } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const PAGE = 'https://console.example.com'

let world: World
let operator: TestUser
let url: string
beforeAll(async () => {
  world = await createWorld({ env: { CORS_ORIGINS: PAGE } })
  operator = await world.operator()
  url = `${world.baseUrl}/api/mcp`
})
afterAll(() => world[Symbol.asyncDispose]())

const accept = { Accept: 'application/json, text/event-stream' }
const ping = { jsonrpc: '2.0', id: 7, method: 'ping' }
const post = (body: unknown, headers: Record<string, string> = {}, token = operator.token) =>
  ask(url, { method: 'POST', token, body, headers: { ...accept, ...headers } })
/** Returns the single message of a response that is a stream of events. */
const messageOf = (text: unknown) => JSON.parse(/^data: (.*)$/m.exec(String(text))?.[1] ?? '')

describe('credentials', () => {
  const metadata = () => `${world.baseUrl}/.well-known/oauth-protected-resource/api/mcp`

  test('a request without one learns where to get one', async () => {
    const reply = await ask(url, { method: 'POST', body: ping, headers: accept })
    expect([reply.status, reply.body]).toEqual([401, { error: 'Send an Authorization: Bearer header' }])
    expect(reply.headers.get('WWW-Authenticate')).toBe(`Bearer resource_metadata="${metadata()}"`)
  })

  test.each(['svc_live_nobody', 'no.jwt.atall'])('a bad one (%s) is refused as invalid', async (token) => {
    const reply = await post(ping, {}, token)
    expect(reply.status).toBe(401)
    expect(reply.headers.get('WWW-Authenticate')).toBe(
      `Bearer error="invalid_token", resource_metadata="${metadata()}"`,
    )
  })

  test('the cookie of the console is not accepted', async () => {
    const headers = { ...accept, Cookie: `__session=${operator.token}`, Origin: world.baseUrl }
    expect((await ask(`${world.baseUrl}/api/auth/profile`, { headers })).status).toBe(200)
    expect((await ask(url, { method: 'POST', body: ping, headers })).status).toBe(401)
  })

  test('a revoked API key is refused from then on', async () => {
    const { id, key } = await operator.key()
    await using mcp = await connectMcp(world.baseUrl, key)
    expect((await mcp.use('get_profile')).body).toMatchObject({ id: operator.id })
    await operator.delete(`/api/auth/api-keys/${id}`)
    await expect(mcp.use('get_profile')).rejects.toThrow('The API key has been revoked')
  })

  test('are required for other methods too, and the method is then refused', async () => {
    for (const method of ['GET', 'DELETE', 'PUT']) {
      expect((await ask(url, { method })).status).toBe(401)
      const reply = await ask(url, { method, token: operator.token, headers: accept })
      expect([reply.status, reply.body]).toEqual([405, { error: `${method} is not allowed here. Use POST.` }])
      expect(reply.headers.get('Allow')).toBe('POST')
    }
  })

  test('are described by the metadata', async () => {
    const issuer = `${world.baseUrl}/idp`
    const read = (path: string) => ask(`${world.baseUrl}/.well-known/oauth-protected-resource${path}`)
    const [forMcp, forRest] = [await read('/api/mcp'), await read('')]
    expect(forMcp.body).toMatchObject({
      resource: url,
      authorization_servers: [issuer],
      bearer_methods_supported: ['header'],
      scopes_supported: ['openid', 'email', 'profile'],
    })
    expect(forRest.body).toMatchObject({ resource: world.baseUrl, authorization_servers: [issuer] })
    expect(forMcp.headers.get('Access-Control-Allow-Origin')).toBe('*')
    const server = await ask(`${issuer}/.well-known/openid-configuration`)
    expect(server.body).toMatchObject({ issuer })
    expect((await read('/api/other')).status).toBe(404)
    const posted = await ask(metadata(), { method: 'POST' })
    expect([posted.status, posted.headers.get('Allow')]).toEqual([405, 'GET, HEAD'])
  })
})

describe('requests of other sites', () => {
  test('by their Origin are refused, whatever the credential', async () => {
    for (const origin of ['https://evil.example', 'null', `${world.baseUrl}.evil.example`]) {
      const reply = await post(ping, { Origin: origin })
      expect([reply.status, reply.body]).toEqual([
        403,
        { error: 'Requests from this Origin are not allowed. An administrator can allow it.' },
      ])
    }
    for (const origin of [world.baseUrl, PAGE])
      expect((await post(ping, { Origin: origin })).status).toBe(200)
    const preflight = await ask(url, {
      method: 'OPTIONS',
      headers: {
        Origin: PAGE,
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'authorization,content-type,mcp-protocol-version',
      },
    })
    expect(preflight.headers.get('Access-Control-Allow-Headers')).toMatch(/mcp-protocol-version/i)
  })

  test('at the address with a slash are served as well', async () => {
    const headers = {
      ...accept,
      'Content-Type': 'application/json',
      Authorization: `Bearer ${operator.token}`,
    }
    const reply = await fetch(`${url}/`, { method: 'POST', headers, body: JSON.stringify(ping) })
    expect(reply.status).toBe(200)
  })

  test('by a host name that resolves to this server are refused', async () => {
    const { port } = new URL(url)
    expect(await statusWithHost(`evil.example:${port}`)).toBe(403)
    expect(await statusWithHost(`localhost.evil.example:${port}`)).toBe(403)
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, '[::1]']) {
      expect(await statusWithHost(host), host).toBe(200)
    }
  })

  /** Sends a request with a chosen Host header, which `fetch` would overwrite. */
  const statusWithHost = (host: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const headers = { Host: host, Authorization: `Bearer ${operator.token}`, ...accept }
      const request = httpRequest(url, {
        method: 'POST',
        headers: { ...headers, 'Content-Type': 'application/json' },
      })
      request.on('error', reject).on('response', (response) => {
        response.resume().on('end', () => resolve(response.statusCode))
      })
      request.end(JSON.stringify(ping))
    })
})

describe('bodies', () => {
  test('that are not JSON are a parse error', async () => {
    for (const body of ['{"jsonrpc"', 'true', '"text"', '\0']) {
      const reply = await post(body)
      expect([reply.status, reply.body.error?.code, reply.body.id], body).toEqual([400, -32_700, null])
    }
  })

  test('that are JSON but not a message are refused as JSON-RPC', async () => {
    const bodies = [
      '',
      {},
      { jsonrpc: '2.0' },
      { jsonrpc: '1.0', id: 1, method: 'ping' },
      { ...ping, id: {} },
      { ...ping, method: 7 },
      { ...ping, params: 'x' },
    ]
    for (const body of bodies) {
      const reply = await post(body)
      expect(reply.status, JSON.stringify(body)).toBe(400)
      expect(reply.body).toMatchObject({ jsonrpc: '2.0', error: { code: expect.any(Number) } })
    }
    expect((await post([ping, ping])).body).toMatchObject({ error: { message: 'Batches are not supported' } })
  })

  test('of another type or above the size limit are refused as HTTP', async () => {
    const text = await post('x', { 'Content-Type': 'text/plain' })
    expect([text.status, text.body]).toEqual([415, { error: 'Content-Type must be application/json' }])
    const large = await post({ ...ping, params: { filler: 'x'.repeat(300_000) } })
    expect([large.status, large.body]).toEqual([413, { error: 'The request body is too large. Send less.' }])
    const bomb = await fetch(url, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${operator.token}`,
        'Content-Type': 'application/json',
        'Content-Encoding': 'gzip',
        ...accept,
      },
      body: gzipSync(JSON.stringify({ ...ping, params: { filler: 'x'.repeat(5_000_000) } })),
    })
    expect(bomb.status).toBe(413)
    expect((await post(ping, { Accept: 'text/html' })).status).toBe(406)
  })

  test('that name a tool by an object are refused, and no internal error', async () => {
    const params = { name: { toString: 1, valueOf: 1 }, arguments: {} }
    const reply = await post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    expect(reply.status).toBeLessThan(500)
    expect(JSON.stringify(reply.body)).toContain('-32602')
  })

  test('that are notifications get no response body', async () => {
    const reply = await post({ jsonrpc: '2.0', method: 'notifications/initialized' })
    expect([reply.status, reply.body, reply.headers.get('Content-Type')]).toEqual([202, '', null])
  })

  test('that name an unknown method or tool get an error of the protocol', async () => {
    const call = async (method: string, params: object) =>
      messageOf((await post({ jsonrpc: '2.0', id: 1, method, params })).body)
    expect(await call('tools/fly', {})).toMatchObject({ error: { code: -32_601 } })
    expect(await call('tools/call', { name: 'fly' })).toMatchObject({ error: { code: -32_602 } })
    expect(await call('tools/call', { name: '__proto__' })).toMatchObject({ error: { code: -32_602 } })
    expect(await call('resources/subscribe', { uri: 'wheelhouse://sessions' })).toMatchObject({
      error: { code: -32_601 },
    })
    const listen = await post({ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: {} })
    expect(listen.body).toMatchObject({ id: 1, error: { code: -32_601 } })
  })

  test('get responses that no cache may store', async () => {
    const params = { name: 'get_platform_statistics', arguments: {} } // over REST a cache may store it
    const reply = await post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    expect(messageOf(reply.body)).toMatchObject({
      result: { structuredContent: { operators: expect.any(Number) } },
    })
    expect(reply.headers.get('Cache-Control')).toBe('no-store')
  })
})

describe('an idempotent request', () => {
  test('is carried out once with the same key, at the same time or later, over MCP or REST', async () => {
    const { robot, operator: driver, performAction, client } = await openSessionFixture(world)
    await performAction(client, 'end')
    await using mcp = await connectMcp(world.baseUrl, driver.token)
    const given = { robotId: robot.id, idempotencyKey: 'one start' }
    const replies = await Promise.all(Array.from({ length: 8 }, () => mcp.use('start_session', given)))
    const started = replies.filter(({ status }) => status === 200)
    const ids = new Set(started.map(({ body }) => body.sessionId))
    expect(ids.size).toBe(1)
    expect(started.filter(({ replayed }) => !replayed)).toHaveLength(1)
    expect(replies.filter(({ status }) => status !== 200 && status !== 409)).toEqual([])
    expect(await mcp.use('start_session', given)).toMatchObject({
      status: 200,
      replayed: true,
      body: { sessionId: [...ids][0] },
    })
    const rest = await ask(`${world.baseUrl}/api/sessions`, {
      method: 'POST',
      token: driver.token,
      body: { robotId: robot.id },
      headers: { 'Idempotency-Key': 'one start' },
    })
    expect(rest.body).toMatchObject({ sessionId: [...ids][0] })
    const other = await mcp.use('start_session', { ...given, robotId: crypto.randomUUID() })
    expect([other.status, other.text]).toEqual([
      422,
      'This Idempotency-Key was used for another request. Send a new one.',
    ])
    const { sessions } = (await mcp.use('list_sessions', { status: 'ACTIVE' })).body
    expect(sessions).toHaveLength(1)
  })

  test('without a key is limited by the platform to one session', async () => {
    const { robot, operator: driver, performAction, client } = await openSessionFixture(world)
    await performAction(client, 'end')
    await using mcp = await connectMcp(world.baseUrl, driver.token)
    const use = () => mcp.use('start_session', { robotId: robot.id })
    const replies = await Promise.all([use(), use(), use()])
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409])
  })
})

test('registering a robot does not reveal its token', async () => {
  const owner = await world.client()
  await using mcp = await connectMcp(world.baseUrl, owner.token)
  const given = { name: 'Arm', robot_type: 'testbot', hardware_id: 'quiet', idempotencyKey: 'k' }
  for (const replayed of [false, true]) {
    const reply = await mcp.use('register_robot', given)
    expect(reply).toMatchObject({ status: 200, replayed, body: { name: 'Arm', status: 'OFFLINE' } })
    expect(reply.text).not.toMatch(/token/)
  }
})
