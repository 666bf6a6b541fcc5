import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import WebSocket from 'ws'
import { RobotLink } from '../../../packages/sdk/index.ts'
import { TestRobot } from '../../support/gateway/frame-socket.ts'
import { attempt } from '../../support/gateway/upgrade.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const CONNECTS = 5

let world: World
let owner: TestUser
beforeAll(async () => {
  world = await createWorld({ bus: 'redis', env: { ROBOT_CONNECTS_PER_MINUTE: String(CONNECTS) } })
  owner = await world.client()
})
afterAll(() => world?.[Symbol.asyncDispose]())

test('a second process on the port of a gateway does not start, and its error says what to do', async () => {
  const GATEWAY_PORT = new URL(world.gatewayUrl).port
  await expect(world.addNode('gateway', { GATEWAY_PORT })).rejects.toThrow(
    `Cannot listen on 127.0.0.1:${GATEWAY_PORT}. The address is in use. Stop the other program or set GATEWAY_PORT.`,
  )
  await waitFor(async () => {
    const nodes = await world.platform.core.db.selectFrom('gateway_nodes').selectAll().execute()
    expect(nodes).toHaveLength(1)
  })
})

describe('a robot that reconnects in a loop', () => {
  const urlOf = (robot: { id: string }) => `${world.gatewayUrl}/robots/${robot.id}/control`
  const dial = (robot: { id: string; token: string }) =>
    attempt(urlOf(robot), { headers: { Authorization: `Bearer ${robot.token}` } })

  test('is refused with 429 and Retry-After; other robots are admitted', async () => {
    const [busy, idle] = [await world.robot(owner), await world.robot(owner)]
    for (let count = 0; count < CONNECTS; count++) expect((await dial(busy)).status).toBe(101)
    const refused = await dial(busy)
    expect(refused).toMatchObject({ status: 429, body: expect.stringContaining('too often') })
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60 / CONNECTS)
    expect((await dial(idle)).status).toBe(101)
  })

  test('has a separate limit for each token', async () => {
    const robot = await world.robot(owner)
    for (let count = 0; count <= CONNECTS; count++) await dial(robot)
    expect((await dial(robot)).status).toBe(429)
    const { body } = await owner.post(`/api/client/robots/${robot.id}/token`)
    expect((await dial({ ...robot, token: body.robot_token })).status).toBe(101)
  })

  test('with the sdk waits for the time in Retry-After', async () => {
    // Sixty connects a minute: the next one is admitted after a second.
    const { gatewayUrl } = await world.addNode('gateway', { ROBOT_CONNECTS_PER_MINUTE: '60' })
    const robot = await world.robot(owner)
    const url = `${gatewayUrl}/robots/${robot.id}/control`
    const headers = { Authorization: `Bearer ${robot.token}` }
    while ((await attempt(url, { headers })).status !== 429);
    let dialled = 0
    class Dialling extends WebSocket {
      constructor(url: string, options: WebSocket.ClientOptions) {
        super(url, options)
        dialled++
      }
    }
    const options = { reconnect: { baseMs: 1, maxMs: 1 }, WebSocket: Dialling }
    const link = new RobotLink({ url, token: robot.token, ...options })
    await link.connect()
    // Refused once and admitted once: without Retry-After it would reconnect a thousand times a second.
    expect(dialled).toBeLessThanOrEqual(3)
    await link.close()
  })

  test('does not affect a fleet that reconnects at once', async () => {
    const fleet = await Promise.all(Array.from({ length: 20 }, () => world.robot(owner)))
    for (let round = 0; round < 2; round++) {
      const links = fleet.map((robot) => new TestRobot(urlOf(robot), robot.token))
      await Promise.all(links.map((link) => link.next('welcome')))
      for (const link of links) link.destroy()
    }
  })
})

describe('an ambiguous request', () => {
  /** Returns the responses to these bytes, until this number has arrived or the gateway closes the connection. */
  function exchange(
    text: string,
    count = Number.POSITIVE_INFINITY,
  ): Promise<{ answers: string[]; closed: boolean }> {
    return new Promise((resolve) => {
      const socket = connect(Number(new URL(world.gatewayUrl).port), '127.0.0.1', () => socket.write(text))
      let sent = ''
      const answers = () => sent.match(/HTTP\/1\.1 \d+/g) ?? []
      const settle = (closed: boolean) => {
        socket.destroy()
        resolve({ answers: answers(), closed })
      }
      socket.on('data', (chunk) => {
        sent += chunk
        if (answers().length >= count) settle(false)
      })
      socket.on('close', () => settle(true)).on('error', () => {})
    })
  }
  const request = (method: string, path: string, headers: readonly string[], body = '') =>
    `${method} ${path} HTTP/1.1\r\n${['Host: gateway', ...headers].map((item) => `${item}\r\n`).join('')}\r\n${body}`
  const hidden = request('GET', '/livez', [])
  const upgrade = [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ]

  test.each([
    [
      'two lengths',
      request('GET', '/livez', ['Content-Length: 0', `Content-Length: ${hidden.length}`], hidden),
    ],
    ['the same length twice', request('POST', '/livez', ['Content-Length: 3', 'Content-Length: 3'], 'abc')],
    ['an empty length', request('GET', '/readyz', ['Content-Length: '], hidden)],
    [
      'a length and an encoding',
      request('GET', '/livez', ['Content-Length: 3', 'Transfer-Encoding: chunked'], '0\r\n\r\n'),
    ],
    [
      'two encodings',
      request('GET', '/metrics', ['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'], '0\r\n\r\n'),
    ],
    ['a list of encodings', request('GET', '/x', ['Transfer-Encoding: gzip, chunked'], '0\r\n\r\n')],
    ['two hosts', request('GET', '/livez', ['Host: elsewhere'])],
    [
      'an upgrade with a body',
      request('GET', '/robots/1/control', [...upgrade, 'Content-Length: 5'], 'abcde'),
    ],
    [
      'an upgrade in chunks',
      request('GET', '/sessions/1/watch', [...upgrade, 'Transfer-Encoding: chunked'], '0\r\n\r\n'),
    ],
    [
      'an upgrade with two lengths',
      request('GET', '/sessions/1/control', [...upgrade, 'Content-Length: 0', 'Content-Length: 9'], hidden),
    ],
  ])('with %s is refused, and no bytes after it are read', async (_name, text) => {
    const { answers, closed } = await exchange(text)
    expect(closed).toBe(true)
    // If another request follows, the connection may just end.
    if (!text.endsWith(hidden) || answers.length > 0) expect(answers).toEqual(['HTTP/1.1 400'])
  })

  test('is distinguished from ordinary requests', async () => {
    const bodies = request('POST', '/livez', ['Content-Length: 3'], 'abc') + hidden
    expect((await exchange(bodies, 2)).answers).toEqual(['HTTP/1.1 405', 'HTTP/1.1 200'])
    const upgradeRequest = request('GET', '/robots/1/control', [...upgrade, 'Content-Length: 0'])
    const refused = await exchange(upgradeRequest, 1)
    expect(refused.answers).toEqual(['HTTP/1.1 401'])
  })
})
