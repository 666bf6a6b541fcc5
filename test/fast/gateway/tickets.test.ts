import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSecrets } from '../../../src/core/secrets.ts'
import { createTickets, type TicketPart } from '../../../src/modules/sessions/tickets/ticket.ts'
import { TestRobot } from '../../support/gateway/frame-socket.ts'
import { openSessionFixture } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const LIFETIME_MS = 60_000

const admissionTo = (part: TicketPart) => ({
  sessionId: randomUUID(),
  userId: randomUUID(),
  organizationId: randomUUID(),
  part,
  permissionsVersion: 3,
  number: 17,
})

describe('a ticket', () => {
  const secrets = createSecrets('a root key for this test only')
  let clockMs = Date.parse('2026-11-20T12:00:00Z')
  const tickets = createTickets({ secrets, now: () => new Date(clockMs) })
  const admission = fc.record(
    {
      sessionId: fc.uuid(),
      userId: fc.uuid(),
      organizationId: fc.uuid(),
      part: fc.constantFrom<TicketPart>('control', 'watch'),
      isProgram: fc.constant(true),
      apiKeyId: fc.uuid(),
      permissionsVersion: fc.nat(),
      number: fc.nat(),
    },
    { requiredKeys: ['sessionId', 'userId', 'organizationId', 'part', 'permissionsVersion', 'number'] },
  )

  test('contains exactly the claims for which it was issued', () => {
    fc.assert(
      fc.property(admission, (claims) => {
        const { ticket, expiresAt } = tickets.issue(claims)
        const { nonce, ...read } = tickets.read(ticket) ?? {}
        expect(read).toStrictEqual({ ...claims, expiresAt })
        expect(nonce).toMatch(/^[\w-]{22}$/)
        expect(expiresAt.getTime() - clockMs).toBe(LIFETIME_MS)
      }),
    )
  })

  test('is unique', () => {
    const given = admissionTo('watch')
    const [first, other] = [tickets.issue(given).ticket, tickets.issue(given).ticket]
    expect(first).not.toBe(other)
    expect(tickets.read(first)?.nonce).not.toBe(tickets.read(other)?.nonce)
  })

  test('expires after a minute, to the millisecond', () => {
    const given = admissionTo('control')
    const { ticket } = tickets.issue(given)
    const issuedMs = clockMs
    clockMs = issuedMs + LIFETIME_MS - 1
    expect(tickets.read(ticket)).toMatchObject(given)
    clockMs = issuedMs + LIFETIME_MS
    expect(tickets.read(ticket)).toBeUndefined()
    clockMs = issuedMs
  })

  test('with one character replaced, added or omitted is invalid', () => {
    const characters = fc.constantFrom(
      ...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_. =+/\n\0é',
    )
    fc.assert(
      fc.property(admission, fc.nat(), characters, (given, position, character) => {
        const { ticket } = tickets.issue(given)
        const at = position % ticket.length
        for (const forged of [
          `${ticket.slice(0, at)}${character}${ticket.slice(at + 1)}`,
          `${ticket.slice(0, at)}${character}${ticket.slice(at)}`,
          ticket.slice(0, at) + ticket.slice(at + 1),
          ticket + character,
        ]) {
          if (forged !== ticket) expect(tickets.read(forged), forged).toBeUndefined()
        }
      }),
      { numRuns: 500 },
    )
  })

  test('with any other last character is invalid: a signature has one encoding', () => {
    const { ticket } = tickets.issue(admissionTo('watch'))
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const valid = [...alphabet].filter((last) => tickets.read(ticket.slice(0, -1) + last) !== undefined)
    expect(valid).toEqual([ticket.at(-1)])
  })

  test('of parts of other tickets is invalid', () => {
    fc.assert(
      fc.property(admission, admission, fc.integer({ min: 0, max: 8 }), (first, other, index) => {
        const [from, into] = [tickets.issue(first).ticket.split('.'), tickets.issue(other).ticket.split('.')]
        const own = into.join('.')
        into[index] = from[index] as string
        const mixed = into.join('.')
        if (mixed !== own) expect(tickets.read(mixed)).toBeUndefined()
      }),
    )
  })

  test('signed for another purpose or with another key is invalid', () => {
    const given = admissionTo('control')
    const claim = tickets.issue(given).ticket.split('.').slice(0, -1).join('.')
    expect(tickets.read(`${claim}.${secrets.sign('robot-token', claim)}`)).toBeUndefined()
    expect(tickets.read(`${claim}.${secrets.sign('session-ticket', claim)}`)).toMatchObject(given)
    const foreign = createTickets({
      secrets: createSecrets('another root key'),
      now: () => new Date(clockMs),
    })
    expect(tickets.read(foreign.issue(given).ticket)).toBeUndefined()
    // A signed text that has not the form of a ticket is invalid too.
    const signed = (text: string) => `${text}.${secrets.sign('session-ticket', text)}`
    for (const text of [
      claim.replace('control', 'both'),
      claim.toUpperCase(),
      `${claim}.`,
      claim.split('.').slice(0, -1).join('.'),
      claim.replace(/\.\d{13}\./, '.0.'),
      claim.replace('.-.', '../..'),
      claim.replace('.-.', '.'),
      claim.replace('.-.', '.--.'),
    ]) {
      expect(tickets.read(signed(text)), text).toBeUndefined()
    }
    fc.assert(fc.property(fc.string(), (text) => tickets.read(text) === undefined))
  })
})

describe('POST /api/sessions/{id}/ticket', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld({ bus: 'redis' })
  })
  afterAll(() => world[Symbol.asyncDispose]())

  const ask = (user: TestUser, path: string, part: unknown) => user.post(`${path}/ticket`, { part })

  test('responds 201 with a URL, a ticket for the caller and its expiry, not to be cached', async () => {
    const fixture = await openSessionFixture(world)
    const admin = await world.admin()
    for (const [user, part] of [
      [fixture.operator, 'control'],
      [fixture.operator, 'watch'],
      [fixture.client, 'watch'],
      [admin, 'watch'],
    ] as const) {
      const reply = await ask(user, fixture.path, part)
      expect(reply.status).toBe(201)
      expect(Object.keys(reply.body).sort()).toEqual(['expires_at', 'ticket', 'url'])
      expect(reply.body.url).toBe(`${world.gatewayUrl}/sessions/${fixture.id}/${part}`)
      expect(reply.headers.get('Cache-Control')).toBe('no-store')
      const read = world.platform.sessions.tickets.read(reply.body.ticket)
      expect(read).toMatchObject({ sessionId: fixture.id, userId: user.id, part })
      expect(reply.body.expires_at).toBe(read?.expiresAt.toISOString())
      const leftMs = Date.parse(reply.body.expires_at) - Date.now()
      expect(leftMs).toBeGreaterThan(50_000)
      expect(leftMs).toBeLessThanOrEqual(LIFETIME_MS)
    }
  })

  test('includes the API key of the request, so that connections end with the key', async () => {
    const fixture = await openSessionFixture(world)
    const { id, key } = await fixture.operator.key()
    const path = `${fixture.path}/ticket`
    const withKey = await fixture.operator.request('POST', path, { part: 'control' }, key)
    const read = world.platform.sessions.tickets.read(withKey.body.ticket)
    expect(read).toMatchObject({ userId: fixture.operator.id, part: 'control', apiKeyId: id })
    const withToken = await ask(fixture.operator, fixture.path, 'control')
    expect(world.platform.sessions.tickets.read(withToken.body.ticket)).not.toHaveProperty('apiKeyId')
  })

  test('issues tickets for control to those only who may hold control: the operator and the owner', async () => {
    const fixture = await openSessionFixture(world)
    expect(await ask(fixture.client, fixture.path, 'control')).toMatchObject({ status: 201 })
    expect(await ask(await world.admin(), fixture.path, 'control')).toMatchObject({ status: 403 })
    for (const user of [await world.operator(), await world.client(), await world.newUser()]) {
      for (const part of ['control', 'watch']) {
        expect(await ask(user, fixture.path, part)).toMatchObject({
          status: 404,
          body: { error: 'Session not found' },
        })
      }
    }
  })

  test('responds 409 unless the session is ACTIVE or PAUSED', async () => {
    const fixture = await openSessionFixture(world)
    await fixture.performAction(fixture.client, 'pause')
    expect(await ask(fixture.operator, fixture.path, 'control')).toMatchObject({ status: 201 })
    await fixture.performAction(fixture.client, 'end')
    const refused = { status: 409, body: { error: expect.stringContaining('not open') } }
    for (const part of ['control', 'watch']) {
      expect(await ask(fixture.operator, fixture.path, part)).toMatchObject(refused)
    }
    const scheduledFor = new Date(Date.now() + 3_600_000).toISOString()
    const planned = await fixture.operator.post('/api/sessions', { robotId: fixture.robot.id, scheduledFor })
    const path = `/api/sessions/${planned.body.sessionId}`
    expect(await ask(fixture.operator, path, 'control')).toMatchObject(refused)
    await fixture.operator.patch(path, { action: 'cancel' })
    expect(await ask(fixture.client, path, 'watch')).toMatchObject(refused)
  })

  test('responds 409 while the robot is offline, and then with the URL of its gateway', async () => {
    const secondNode = await world.addNode('gateway')
    const fixture = await openSessionFixture(world)
    await fixture.link.close()
    const answer = () => ask(fixture.operator, fixture.path, 'control')
    await expect.poll(async () => (await answer()).status).toBe(409)
    expect((await answer()).body).toEqual({ error: expect.stringContaining('offline') })

    const url = `${secondNode.gatewayUrl}/robots/${fixture.robot.id}/control`
    const link = new TestRobot(url, fixture.robot.token).beat()
    await link.next('welcome')
    expect(secondNode.gatewayUrl).not.toBe(world.gatewayUrl)
    expect((await answer()).body.url).toBe(`${secondNode.gatewayUrl}/sessions/${fixture.id}/control`)
    await link.close()
  })

  test.each([
    ['part', {}],
    ['part', { part: 'drive' }],
    ['part', { part: null }],
    ['part', { part: ['control'] }],
    ['minutes', { part: 'watch', minutes: 5 }],
  ])('responds 400 naming %s for %j', async (field, body) => {
    const user = await world.newUser()
    const reply = await user.post(`/api/sessions/${randomUUID()}/ticket`, body)
    expect(reply).toMatchObject({ status: 400, body: { error: expect.stringContaining(field) } })
  })
})
