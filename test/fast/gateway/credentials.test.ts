import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TestRobot } from '../../support/gateway/frame-socket.ts'
import { type Attempt, attempt } from '../../support/gateway/upgrade.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld({ env: { CORS_ORIGINS: 'https://console.example' } })
})
afterAll(() => world[Symbol.asyncDispose]())

const urlOf = (robot: { id: string }) => `${world.gatewayUrl}/robots/${robot.id}/control`
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })

async function newRobot() {
  const owner = await world.client()
  return { owner, robot: await world.robot(owner) }
}

describe('a robot is admitted', () => {
  test.each([
    ['the Authorization header', (token: string) => ({ headers: bearer(token) })],
    [
      'a header and scheme in lower case',
      (token: string) => ({ headers: { authorization: `bearer ${token}` } }),
    ],
    ['a subprotocol entry', (token: string) => ({ headers: {}, protocols: [`bearer.${token}`] })],
    [
      'an allowed Origin',
      (token: string) => ({ headers: { ...bearer(token), Origin: 'https://console.example' } }),
    ],
  ])('with %s', async (_name, options) => {
    const { robot } = await newRobot()
    const link = new TestRobot(urlOf(robot), '', options(robot.token))
    expect((await link.next('welcome')).robot_id).toBe(robot.id)
    await link.close()
  })

  test('from a page of the platform itself', async () => {
    const { robot } = await newRobot()
    const headers = { ...bearer(robot.token), Origin: new URL(world.baseUrl).origin }
    const link = new TestRobot(urlOf(robot), '', { headers })
    await link.next('welcome')
    await link.close()
  })

  test.each([
    ['before', (token: string) => ['wheelhouse.v1', `bearer.${token}`]],
    ['after', (token: string) => [`bearer.${token}`, 'wheelhouse.v1']],
  ])('with another protocol %s the token, which is then selected', async (_name, protocols) => {
    const { robot } = await newRobot()
    const link = new TestRobot(urlOf(robot), '', { headers: {}, protocols: protocols(robot.token) })
    await link.next('welcome')
    expect(link.socket.protocol).toBe('wheelhouse.v1')
    await link.close()
  })
})

describe('an upgrade is refused', () => {
  /** Replaces a character of the signature with another valid one. */
  const tampered = (token: string) =>
    `${token.slice(0, -2)}${token.at(-2) === 'A' ? 'B' : 'A'}${token.at(-1)}`
  const withVersion = (token: string, version: number) => token.replace(/\.\d+\./, `.${version}.`)

  test.each<[string, (robot: { id: string; token: string }) => Attempt]>([
    ['without a token', () => ({})],
    ['with an empty token', () => ({ headers: { Authorization: 'Bearer ' } })],
    ['with an arbitrary text', () => ({ headers: bearer('garbage') })],
    ['with an empty subprotocol token', () => ({ protocols: ['bearer.'] })],
    ['with another scheme', ({ token }) => ({ headers: { Authorization: `Basic ${token}` } })],
    ['with a tampered signature', ({ token }) => ({ headers: bearer(tampered(token)) })],
    ['with a version that is not signed', ({ token }) => ({ headers: bearer(withVersion(token, 9)) })],
    ['with a truncated signature', ({ token }) => ({ headers: bearer(token.slice(0, -1)) })],
    ['with a text after the signature', ({ token }) => ({ headers: bearer(`${token}.x`) })],
    [
      "with another robot's id under the signature",
      ({ id, token }) => ({ headers: bearer(token.replace(id, randomUUID())) }),
    ],
  ])('%s: 401', async (_name, how) => {
    const { robot } = await newRobot()
    const answer = await attempt(urlOf(robot), how(robot))
    expect(answer.status).toBe(401)
    expect(answer.headers['www-authenticate']).toBe('Bearer')
    expect(JSON.parse(answer.body)).toEqual({ error: expect.any(String) })
  })

  test('with the token in the query string: 401', async () => {
    const { robot } = await newRobot()
    for (const name of ['token', 'access_token', 'authorization', 'bearer']) {
      const answer = await attempt(`${urlOf(robot)}?${name}=${robot.token}`, {})
      expect(answer.status, name).toBe(401)
    }
  })

  test("with the session token or API key of the robot's owner: 401", async () => {
    const { owner, robot } = await newRobot()
    const { key } = await owner.key()
    for (const token of [owner.token, key]) {
      expect((await attempt(urlOf(robot), { headers: bearer(token) })).status).toBe(401)
    }
  })

  test('for another robot, even of the same owner: 403', async () => {
    const { owner, robot } = await newRobot()
    const otherRobot = await world.robot(owner)
    const answer = await attempt(urlOf(otherRobot), { headers: bearer(robot.token) })
    expect(answer.status).toBe(403)
    expect(JSON.parse(answer.body)).toEqual({ error: expect.any(String) })
  })

  test.each([
    'https://evil.example',
    'null',
    'https://console.example.evil.example',
    'http://console.example',
  ])('from a page of %s: 403', async (origin) => {
    const { robot } = await newRobot()
    const answer = await attempt(urlOf(robot), { headers: { ...bearer(robot.token), Origin: origin } })
    expect(answer.status).toBe(403)
  })
})

describe('a token that was rotated', () => {
  const rotate = async ({ owner, robot }: Awaited<ReturnType<typeof newRobot>>) => {
    const reply = await owner.post(`/api/client/robots/${robot.id}/token`)
    expect(reply.status).toBeLessThan(300)
    return { id: robot.id, token: reply.body.robot_token as string }
  }
  const statusIn = async ({ owner, robot }: Awaited<ReturnType<typeof newRobot>>) =>
    (await owner.get(`/api/client/robots/${robot.id}`)).body

  test('closes its open socket with 4401, and the robot is offline', async () => {
    const own = await newRobot()
    const link = await world.connect(own.robot)
    await rotate(own)
    expect(await link.closed).toBe(4401)
    await waitFor(async () => expect((await statusIn(own)).status).toBe('OFFLINE'))
  })

  test('is closed with 4401 before its frames are read', async () => {
    const own = await newRobot()
    await rotate(own)
    const link = new TestRobot(urlOf(own.robot), own.robot.token)
    link.socket.on('open', () => {
      link.send({ type: 'heartbeat', seq: 1 })
      link.send('nonsense')
    })
    expect(await link.closed).toBe(4401)
    expect(link.frames).toEqual([])
    expect(await statusIn(own)).toMatchObject({ status: 'OFFLINE', last_heartbeat: null, last_online: null })
  })

  test('does not disturb the connection of the new one', async () => {
    const own = await newRobot()
    const current = await rotate(own)
    const link = await world.connect(current)
    for (let n = 0; n < 3; n++) {
      expect(await new TestRobot(urlOf(own.robot), own.robot.token).closed).toBe(4401)
    }
    link.send({ type: 'heartbeat', seq: 1 })
    expect(await link.next('heartbeat_ack')).toMatchObject({ seq: 1 })
    expect((await statusIn(own)).status).toBe('AVAILABLE')
    await link.close()
    const again = await world.connect(current)
    expect(again.frames).toEqual([])
  })

  test('twice leaves only the last token valid', async () => {
    const own = await newRobot()
    const second = await rotate(own)
    const third = await rotate(own)
    expect(await new TestRobot(urlOf(own.robot), second.token).closed).toBe(4401)
    await world.connect(third)
  })
})

describe('a robot that was deleted', () => {
  test('is closed with 4401 and not admitted again', async () => {
    const { owner, robot } = await newRobot()
    const link = await world.connect(robot)
    expect((await owner.delete(`/api/client/robots/${robot.id}`)).status).toBe(204)
    expect(await link.closed).toBe(4401)
    expect(await new TestRobot(urlOf(robot), robot.token).closed).toBe(4401)
  })
})

test('a well-signed token of a robot that never existed is closed with 4401', async () => {
  const id = randomUUID()
  const token = world.platform.robots.robotTokens.issue({ robotId: id, tokenVersion: 1 })
  expect(await new TestRobot(urlOf({ id }), token).closed).toBe(4401)
})
