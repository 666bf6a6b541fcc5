import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TestDriver } from '../../support/gateway/frame-socket.ts'
import { attempt } from '../../support/gateway/upgrade.ts'
import {
  openSessionFixture,
  performAction,
  type SessionFixture,
} from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
/** An open session, for the tests that do not end it. */
let fixture: SessionFixture
let aheadMs = 0
beforeAll(async () => {
  world = await createWorld({
    env: { CORS_ORIGINS: 'https://console.example', HEARTBEAT_TIMEOUT_MS: '30000' },
    now: () => new Date(Date.now() + aheadMs),
  })
  fixture = await openSessionFixture(world)
})
afterAll(() => world[Symbol.asyncDispose]())

type Part = 'control' | 'watch'
interface Issued {
  readonly url: string
  readonly ticket: string
}
async function ticketFor(
  user: TestUser,
  { path }: SessionFixture,
  part: Part,
  credential?: string,
): Promise<Issued> {
  const reply = await user.request('POST', `${path}/ticket`, { part }, credential)
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
    for (const part of ['control', 'watch'] as const) {
      const { url, ticket } = await ticketFor(fixture.operator, fixture, part)
      expect((await attempt(url, options(ticket))).status).toBe(101)
    }
  })

  test('is not selected as the subprotocol if another one is offered', async () => {
    const { url, ticket } = await ticketFor(fixture.operator, fixture, 'control')
    const link = new TestDriver(url, '', { headers: {}, protocols: [`bearer.${ticket}`, 'wheelhouse.v1'] })
    await link.state()
    expect(link.socket.protocol).toBe('wheelhouse.v1')
    await link.close()
  })

  test('is accepted once, also if several connections use it at the same time', async () => {
    const { url, ticket } = await ticketFor(fixture.operator, fixture, 'watch')
    const answers = await Promise.all([1, 2, 3].map(() => attempt(url, bearer(ticket))))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([101, 401, 401])
    expect(await refusal(url, ticket)).toMatchObject({
      status: 401,
      body: { error: expect.stringContaining('used already') },
    })
  })

  test('expires after a minute', async () => {
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
    const otherFixture = await openSessionFixture(world)
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

  test('for control is issued to the operator and the owner only', async () => {
    expect((await fixture.client.post(`${fixture.path}/ticket`, { part: 'control' })).status).toBe(201)
    const admin = await world.admin()
    expect((await admin.post(`${fixture.path}/ticket`, { part: 'control' })).status).toBe(403)
    for (const user of [await world.client(), await world.operator()]) {
      expect((await user.post(`${fixture.path}/ticket`, { part: 'watch' })).status).toBe(404)
    }
  })

  test('that is forged or missing is refused', async () => {
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
    const key = await fixture.operator.key()
    const { url, ticket } = await ticketFor(fixture.operator, fixture, 'control', key.key)
    await fixture.operator.delete(`/api/auth/api-keys/${key.id}`)
    expect((await refusal(url, ticket)).status).toBe(401)
  })
})
