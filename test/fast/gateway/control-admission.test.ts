import { encodeBinaryFrame, MAX_FRAME_BYTES } from '@wheelhouse/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TestDriver } from '../../support/gateway/frame-socket.ts'
import { attempt } from '../../support/gateway/upgrade.ts'
import {
  openSessionFixture,
  performAction,
  type SessionFixture,
} from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { stopWallClock } from '../../support/world/wall-clock.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
let aheadMs = 0
beforeAll(async () => {
  world = await createWorld({
    env: { CORS_ORIGINS: 'https://console.example', HEARTBEAT_TIMEOUT_MS: '30000' },
    now: () => new Date(Date.now() + aheadMs),
  })
})
afterAll(() => world[Symbol.asyncDispose]())

type Part = 'control' | 'watch'
interface Issued {
  readonly url: string
  readonly ticket: string
}
async function ticketFor(
  user: TestUser,
  fixture: SessionFixture,
  part: Part,
  credential?: string,
): Promise<Issued> {
  const reply = await user.request('POST', `${fixture.path}/ticket`, { part }, credential)
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  return reply.body
}
const bearer = (ticket: string) => ({ headers: { Authorization: `Bearer ${ticket}` } })
/** Returns the response to an upgrade that is refused. */
async function refusal(url: string, ticket: string) {
  const { status, body } = await attempt(url, bearer(ticket))
  return { status, body: body === '' ? undefined : JSON.parse(body) }
}

describe('a ticket', () => {
  test.each([
    ['in the Authorization header', bearer],
    ['as a subprotocol', (ticket: string) => ({ protocols: ['wheelhouse.v1', `bearer.${ticket}`] })],
    [
      'from a page of an allowed origin',
      (ticket: string) => ({ headers: { ...bearer(ticket).headers, Origin: 'https://console.example' } }),
    ],
  ])('%s is accepted', async (_name, options) => {
    const fixture = await openSessionFixture(world)
    for (const part of ['control', 'watch'] as const) {
      const { url, ticket } = await ticketFor(fixture.operator, fixture, part)
      expect((await attempt(url, options(ticket))).status).toBe(101)
    }
  })

  test('is not selected as the subprotocol if another one is offered', async () => {
    const fixture = await openSessionFixture(world)
    const { url, ticket } = await ticketFor(fixture.operator, fixture, 'control')
    const link = new TestDriver(url, '', { headers: {}, protocols: [`bearer.${ticket}`, 'wheelhouse.v1'] })
    await link.state()
    expect(link.socket.protocol).toBe('wheelhouse.v1')
    await link.close()
  })

  test('is accepted once, also if several connections use it at the same time', async () => {
    const fixture = await openSessionFixture(world)
    const { url, ticket } = await ticketFor(fixture.operator, fixture, 'watch')
    const answers = await Promise.all([1, 2, 3].map(() => attempt(url, bearer(ticket))))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([101, 401, 401])
    expect(await refusal(url, ticket)).toMatchObject({
      status: 401,
      body: { error: expect.stringContaining('used already') },
    })
  })

  test('expires after a minute', async () => {
    const fixture = await openSessionFixture(world)
    const { url, ticket } = await ticketFor(fixture.operator, fixture, 'control')
    try {
      aheadMs = 60_001
      expect((await refusal(url, ticket)).status).toBe(401)
    } finally {
      aheadMs = 0
    }
    expect((await refusal(url, ticket)).status).toBe(101)
  })

  test('is valid for one session and one part only', async () => {
    const [fixture, otherFixture] = [await openSessionFixture(world), await openSessionFixture(world)]
    const control = await ticketFor(fixture.operator, fixture, 'control')
    const watch = await ticketFor(fixture.operator, fixture, 'watch')
    for (const [url, ticket] of [
      [control.url.replace(fixture.id, otherFixture.id), control.ticket],
      [watch.url, control.ticket],
      [control.url, watch.ticket],
    ] as const) {
      expect(await refusal(url, ticket)).toMatchObject({ status: 403, body: { error: expect.any(String) } })
    }
    // Refused attempts do not use a ticket up.
    expect((await refusal(control.url, control.ticket)).status).toBe(101)
  })

  test('for control is issued to the operator only', async () => {
    const fixture = await openSessionFixture(world)
    for (const user of [fixture.client, await world.admin()]) {
      expect((await user.post(`${fixture.path}/ticket`, { part: 'control' })).status).toBe(403)
    }
    for (const user of [await world.client(), await world.operator()]) {
      expect((await user.post(`${fixture.path}/ticket`, { part: 'watch' })).status).toBe(404)
    }
  })

  test('that is forged or missing is refused', async () => {
    const fixture = await openSessionFixture(world)
    const { url, ticket } = await ticketFor(fixture.operator, fixture, 'control')
    const forged = ticket.replace(fixture.operator.id, fixture.client.id)
    for (const bad of [
      forged,
      ticket.slice(0, -1),
      `${ticket}A`,
      '',
      'x',
      fixture.operator.token,
      fixture.robot.token,
    ]) {
      expect((await refusal(url, bad)).status, bad.slice(-8)).toBe(401)
    }
    expect((await attempt(url, {})).status).toBe(401)
  })

  test('is refused from a page of another origin', async () => {
    const fixture = await openSessionFixture(world)
    const { url, ticket } = await ticketFor(fixture.operator, fixture, 'control')
    const options = { headers: { ...bearer(ticket).headers, Origin: 'https://evil.example' } }
    expect((await attempt(url, options)).status).toBe(403)
  })

  test('of a session that is over closes with 4009, and the API issues no new one', async () => {
    const fixture = await openSessionFixture(world)
    const { url, ticket } = await ticketFor(fixture.operator, fixture, 'control')
    await performAction(fixture.operator, fixture.id, 'end')
    await fixture.link.next('stop')
    const link = new TestDriver(url, ticket)
    expect(await link.closed).toBe(4009)
    expect(link.frames).toEqual([])
    expect((await fixture.operator.post(`${fixture.path}/ticket`, { part: 'control' })).status).toBe(409)
  })
})

describe('an API key', () => {
  test('that is revoked closes the connections of its tickets, and no others', async () => {
    const fixture = await openSessionFixture(world)
    const [key, ownerKey] = [await fixture.operator.key(), await fixture.client.key()]
    const open = async (user: TestUser, part: Part, credential?: string) => {
      const { url, ticket } = await ticketFor(user, fixture, part, credential)
      const link = new TestDriver(url, ticket)
      await link.state()
      return link
    }
    const closing = [
      await open(fixture.operator, 'control', key.key),
      await open(fixture.operator, 'watch', key.key),
    ]
    const spared = [await open(fixture.client, 'watch', ownerKey.key), await open(fixture.operator, 'watch')]
    closing[0]?.control()
    await fixture.link.next('control')
    expect((await fixture.operator.delete(`/api/auth/api-keys/${key.id}`)).status).toBe(204)
    for (const link of closing) expect(await link.closed).toBe(4401)
    await fixture.link.next('stop')
    for (const link of spared) {
      link.frames.length = 0
      await link.next('latency')
      await link.close()
    }
  })

  test('that is revoked before its ticket is used makes the ticket invalid', async () => {
    const fixture = await openSessionFixture(world)
    const key = await fixture.operator.key()
    const { url, ticket } = await ticketFor(fixture.operator, fixture, 'control', key.key)
    await fixture.operator.delete(`/api/auth/api-keys/${key.id}`)
    expect((await refusal(url, ticket)).status).toBe(401)
  })
})

describe('frames of participants', () => {
  async function connected(part: Part) {
    const fixture = await openSessionFixture(world)
    const { url, ticket } = await ticketFor(fixture.operator, fixture, part)
    const link = new TestDriver(url, ticket)
    await link.state()
    return { ...fixture, driver: link }
  }
  const binary = (kind: number, t = 1) =>
    encodeBinaryFrame({ kind, flags: 0, ttlMs: 250, seq: 1, t }, new Uint8Array(4))

  test.each<[string, unknown]>([
    ['invalid JSON', '{'],
    ['JSON that is not an object', '[]'],
    ['a frame without a type', '{"seq":1}'],
    ['control without a number', { type: 'control', t: 1, data: 0 }],
    ['control with a fractional number', { type: 'control', seq: 1.5, t: 1, data: 0 }],
    ['control with a negative number', { type: 'control', seq: -1, t: 1, data: 0 }],
    ['control without a time', { type: 'control', seq: 1, data: 0 }],
    ['control with a time as a string', { type: 'control', seq: 1, t: '1', data: 0 }],
    ['control with an infinite time', '{"type":"control","seq":1,"t":1e999,"data":0}'],
    ['control with a ttl of 0', { type: 'control', seq: 1, t: 1, ttl_ms: 0, data: 0 }],
    ['control with a ttl that is too long', { type: 'control', seq: 1, t: 1, ttl_ms: 65_536, data: 0 }],
    ['a stop with a reason that is too long', { type: 'stop', reason: 'x'.repeat(501) }],
    ['a ping without a time', { type: 'ping' }],
    ['a binary frame without a header', new Uint8Array(15)],
    ['binary telemetry', binary(2)],
    ['binary control with a time of NaN', binary(1, Number.NaN)],
    ['binary control with an infinite time', binary(1, Number.POSITIVE_INFINITY)],
    [
      'control that is too large when it is relayed',
      // The gateway adds the id of the session.
      `{"type":"control","seq":1,"t":1,"data":"${'x'.repeat(MAX_FRAME_BYTES - 50)}"}`,
    ],
  ])('%s is answered with an error, and the fifth in a row closes the connection', async (_name, frame) => {
    const { driver, link } = await connected('control')
    for (let n = 0; n < 4; n++) driver.send(frame)
    for (let n = 0; n < 4; n++) expect((await driver.next('error')).message).toEqual(expect.any(String))
    driver.send({ type: 'ping', t: 1 })
    await driver.next('pong')
    for (let n = 0; n < 4; n++) driver.send(frame)
    driver.send({ type: 'ping', t: 2 })
    await driver.next('pong') // not in a row
    for (let n = 0; n < 5; n++) driver.send(frame)
    expect(await driver.closed).toBe(4002)
    expect(link.frames.filter(({ type }) => ['control', 'binary', 'stop'].includes(type))).toEqual([])
  })

  test('a frame that is too large is answered with an error, and closes no connection', async () => {
    const { driver, link } = await connected('control')
    const frame = { type: 'control', seq: 1, t: 1, data: 'x'.repeat(MAX_FRAME_BYTES) }
    for (let n = 0; n < 8; n++) driver.send(frame)
    for (let n = 0; n < 8; n++) expect((await driver.next('error')).message).toContain('bytes')
    driver.send({ type: 'ping', t: 1 })
    await driver.next('pong')
    expect(link.frames.filter(({ type }) => type === 'control')).toEqual([])
  })

  test.each<[string, unknown]>([
    ['control', { type: 'control', seq: 1, t: 1, data: 0 }],
    ['binary control', binary(1)],
  ])('%s on a watch connection of the operator is an error and is not relayed', async (_name, frame) => {
    const { driver, link } = await connected('watch')
    for (let n = 0; n < 5; n++) driver.send(frame)
    expect(await driver.closed).toBe(4002)
    expect(driver.frames.filter(({ type }) => type === 'error').length).toBeGreaterThan(0)
    link.send({ type: 'heartbeat', seq: 77_777 })
    await waitFor(() => expect(link.frames).toContainEqual(expect.objectContaining({ seq: 77_777 })))
    expect(link.frames.filter(({ type }) => ['control', 'binary', 'stop'].includes(type))).toEqual([])
  })

  test('frames of unknown types are ignored', async () => {
    const { driver } = await connected('control')
    for (let n = 0; n < 10; n++) driver.send({ type: 'honk', volume: 11 })
    driver.send({ type: 'ping', t: 1, extra: true })
    await driver.next('pong')
    expect(driver.frames.filter(({ type }) => type === 'error')).toEqual([])
  })

  test.each(['control', 'watch'] as const)(
    'too many frames on %s close the connection with 4029',
    async (part) => {
      const { driver } = await connected(part)
      stopWallClock() // however long they take, they arrive in one second
      for (let n = 0; n < 2_100; n++) driver.send('{"type":"ping","t":1}')
      expect(await driver.closed).toBe(4029)
    },
  )

  test('a stop that is sent before the first state is accepted', async () => {
    const fixture = await openSessionFixture(world)
    const { url, ticket } = await ticketFor(fixture.client, fixture, 'watch')
    const early = new TestDriver(url, ticket)
    early.socket.on('open', () => early.send({ type: 'stop', reason: 'at once' }))
    expect(await fixture.link.next('stop')).toMatchObject({ reason: 'at once', latched: true })
    expect((await early.state(({ stop }) => stop?.recorded)).stop.reason).toBe('at once')
    await early.close()
  })
})
