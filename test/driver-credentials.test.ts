import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import WebSocket from 'ws'
import { act, openScene } from './support/cast.ts'
import { TestDriver } from './support/frame-socket.ts'
import type { Person } from './support/person.ts'
import { createTcpProxy } from './support/tcp-proxy.ts'
import { createWorld, type World } from './support/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld({ env: { CORS_ORIGINS: 'https://console.example' } })
})
afterAll(() => world[Symbol.asyncDispose]())

type Part = 'control' | 'watch'

async function ticketOf(person: Person, id: string, part: Part, credential = person.token) {
  const reply = await person.request('POST', `/api/sessions/${id}/ticket`, { part }, credential)
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  return reply.body as { url: string; ticket: string }
}

/** The status that an upgrade is answered with; 101 means that it was accepted. */
async function attempt(url: string, headers: Record<string, string>, protocols: string[] = []) {
  const socket = new WebSocket(url, protocols, { headers })
  try {
    return await new Promise<{ status: number; error?: string; protocol?: string }>((resolve, reject) => {
      socket.on('error', reject)
      socket.on('open', () => resolve({ status: 101, protocol: socket.protocol }))
      socket.on('unexpected-response', async (_request, response) => {
        let body = ''
        for await (const chunk of response) body += chunk
        resolve({ status: response.statusCode ?? 0, ...JSON.parse(body) })
      })
    })
  } finally {
    socket.on('error', () => {})
    socket.terminate()
  }
}
const bearer = (ticket: string) => ({ Authorization: `Bearer ${ticket}` })

describe('who is let in', () => {
  test('whoever has a ticket, in a header or as a subprotocol, which is not sent back', async () => {
    const { operator, client, id } = await openScene(world)
    const first = await ticketOf(operator, id, 'control')
    expect(await attempt(first.url, bearer(first.ticket))).toMatchObject({ status: 101 })
    const second = await ticketOf(client, id, 'watch')
    const protocols = ['wheelhouse.v1', `bearer.${second.ticket}`]
    expect(await attempt(second.url, { Origin: 'https://console.example' }, protocols)).toMatchObject({
      ...{ status: 101, protocol: 'wheelhouse.v1' },
    })
  })

  test('once, with one ticket', async () => {
    const { operator, id } = await openScene(world)
    const { url, ticket } = await ticketOf(operator, id, 'control')
    expect((await attempt(url, bearer(ticket))).status).toBe(101)
    expect(await attempt(url, bearer(ticket))).toMatchObject({ status: 401, error: expect.any(String) })
  })

  test('not without one, nor with a forged one, a robot token or a session token', async () => {
    const { operator, robot, id } = await openScene(world)
    const { url, ticket } = await ticketOf(operator, id, 'control')
    expect((await attempt(url, {})).status).toBe(401)
    const forged = ticket.replace('.control.', '.watch.')
    for (const token of [forged, robot.token, operator.token, `${ticket}x`]) {
      expect((await attempt(url, bearer(token))).status).toBe(401)
    }
    expect((await attempt(url, bearer(ticket))).status).toBe(101) // none of that has used it up
  })

  test('not to another session or another part, nor from another origin', async () => {
    const [one, other] = [await openScene(world), await openScene(world)]
    const { url } = await ticketOf(one.operator, one.id, 'control')
    const foreign = await ticketOf(other.operator, other.id, 'control')
    expect((await attempt(url, bearer(foreign.ticket))).status).toBe(403)
    const watch = await ticketOf(one.client, one.id, 'watch')
    expect((await attempt(url, bearer(watch.ticket))).status).toBe(403)
    const own = await ticketOf(one.operator, one.id, 'control')
    expect((await attempt(url, { ...bearer(own.ticket), Origin: 'https://evil.example' })).status).toBe(403)
  })

  test('not with a ticket that is a minute old', async () => {
    let nowMs = Date.now()
    await using other = await createWorld({ now: () => new Date(nowMs) })
    const { operator, id } = await openScene(other)
    const reply = await operator.post(`/api/sessions/${id}/ticket`, { part: 'control' })
    const { url, ticket } = reply.body
    nowMs += 60_000
    expect((await attempt(url, bearer(ticket))).status).toBe(401)
  })

  test('not into a session that is over: 4009, to ask anew, which is then refused', async () => {
    const { operator, id } = await openScene(world)
    const { url, ticket } = await ticketOf(operator, id, 'control')
    await act(operator, id, 'end')
    await vi.waitFor(async () => {
      const late = new TestDriver(url, ticket)
      expect([4009, 1006]).toContain(await late.closed)
    })
    const again = await operator.post(`/api/sessions/${id}/ticket`, { part: 'control' })
    expect(again.status).toBe(409)
  })
})

describe('whose API key ends', () => {
  const keyed = async (person: Person, id: string, part: Part) => {
    const { key, id: keyId } = await person.key()
    const { url, ticket } = await ticketOf(person, id, part, key)
    const link = new TestDriver(url, ticket)
    await link.state()
    return { link, revoke: () => person.delete(`/api/auth/api-keys/${keyId}`) }
  }

  test('is closed 4401; a robot that was driven stands; others stay', async () => {
    const { operator, client, link, id } = await openScene(world)
    const driver = await keyed(operator, id, 'control')
    const watcher = await world.drive(client, id, 'watch')
    await watcher.state()
    driver.link.control()
    await link.next('control')
    expect((await driver.revoke()).status).toBe(204)
    expect(await driver.link.closed).toBe(4401)
    expect((await link.next('stop')).reason).toBe('operator_lost')
    expect(watcher.socket.readyState).toBe(WebSocket.OPEN)
  })

  test('is closed as well when Redis lost the hint', async () => {
    await using redis = await createTcpProxy(inject('redisUrl'))
    await using other = await createWorld({ bus: 'redis' })
    const gateway = await other.addNode('gateway', { REDIS_URL: redis.url })
    const [client, operator] = [await other.client(), await other.operator()]
    const robot = await other.robot(client)
    ;(await other.connect(robot, gateway.gatewayUrl)).beat()
    const started = await operator.post('/api/sessions', { robotId: robot.id })
    const driver = await keyed(operator, started.body.sessionId, 'control')
    redis.cut()
    expect((await driver.revoke()).status).toBe(204)
    expect(await driver.link.closed).toBe(4401)
    redis.heal()
  })
})

describe('who does not keep to the protocol', () => {
  test('sends five malformed frames in a row: 4002, each answered before', async () => {
    const { operator, client, id } = await openScene(world)
    const bad: unknown[] = [
      'nonsense',
      { type: 'control', seq: -1, t: 0 },
      Buffer.from([1, 2, 3]),
      '[]',
      '{}',
    ]
    const driver = await world.drive(operator, id)
    await driver.state()
    for (const frame of bad) {
      driver.send(frame)
      expect((await driver.next('error')).message).toEqual(expect.any(String))
    }
    expect(await driver.closed).toBe(4002)

    const watcher = await world.drive(client, id, 'watch')
    await watcher.state()
    watcher.control() // watchers cannot drive
    expect((await watcher.next('error')).message).toMatch(/drive/)
    watcher.send({ type: 'from_the_future' })
    watcher.send({ type: 'ping', t: 1 })
    expect((await watcher.next('pong')).t).toBe(1)
  })

  test('sends more than a thousand frames in a second: 4029, and the robot stands', async () => {
    const { operator, link, id } = await openScene(world)
    const driver = await world.drive(operator, id)
    await driver.state()
    driver.control()
    await link.next('control')
    for (let n = 0; n < 1_100; n++) driver.send({ type: 'ping', t: n })
    expect(await driver.closed).toBe(4029)
    expect((await link.next('stop')).reason).toMatch(/operator_lost|deadman/)
  })
})
