import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buses } from '../../support/world/buses.ts'
import { openSessionFixture } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

describe.each(buses)('the outbox over the %s bus', (bus) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld({ bus })
  })
  afterAll(() => world[Symbol.asyncDispose]())

  /** Inserts events as a process of another version might, without the hint that wakes the relay. */
  const write = (...events: { name: string; payload: unknown }[]) =>
    world.platform.core.db
      .insertInto('outbox')
      .values(events.map(({ name, payload }) => ({ name, payload: JSON.stringify(payload) })))
      .execute()

  const eventOf = (session_id: string, seq: number) => ({
    name: 'session.event',
    payload: { session_id, seq, type: 'test', data: {}, at: new Date().toISOString() },
  })

  const openSession = () => openSessionFixture(world)

  async function observer() {
    const session = await openSession()
    await world.drained() // later events come from the test
    const hub = await session.owner.hub()
    expect(await hub.send('session:watch', { session_id: session.id })).toMatchObject({ ok: true })
    return { ...session, hub }
  }

  test('is empty again once its events have been published in the order of insertion', async () => {
    const { id, hub } = await observer()
    await write(...Array.from({ length: 1_200 }, (_, index) => eventOf(id, index + 100)))
    await hub.saw('session:event', { seq: 1_299 })
    const seqs = hub.of('session:event').map(({ seq }) => seq)
    expect(seqs).toEqual(Array.from({ length: 1_200 }, (_, index) => index + 100))
    await world.drained()
  })

  test('an event whose hint was lost is published all the same', async () => {
    const { id, hub } = await observer()
    await write(eventOf(id, 7))
    await hub.saw('session:event', { seq: 7 })
  })

  test('an event exists only with its change: a refused change leaves none', async () => {
    const { id, owner, operator, hub, robotId } = await observer()
    const rival = await world.operator()
    expect((await rival.post('/api/sessions', { robotId })).status).toBe(409)
    expect((await operator.patch(`/api/sessions/${id}`, { action: 'resume' })).status).toBe(409)
    const message = { body: 'once', clientMessageId: 'same' }
    await operator.post(`/api/sessions/${id}/messages`, message)
    await operator.post(`/api/sessions/${id}/messages`, message)
    await owner.post(`/api/sessions/${id}/messages`, { body: 'the last' })
    await hub.saw('session:event', { data: expect.objectContaining({ body: 'the last' }) })
    expect(hub.of('session:event').map(({ seq, type }) => `${seq} ${type}`)).toEqual([
      '2 chat.message',
      '3 chat.message',
    ])
    expect(hub.of('notification')).toEqual([])
  })

  test('an event that this version does not know blocks nothing', async () => {
    const { id, hub } = await observer()
    const unknown = ['robot.repaired', 'toString', 'constructor', '']
    await write(...unknown.map((name) => ({ name, payload: { anything: 1 } })), eventOf(id, 2))
    await hub.saw('session:event', { seq: 2 })
    await world.drained()
    expect(world.errors).toEqual([])
  })

  test('an event that cannot be published blocks nothing, reaches no client, and is reported once', async () => {
    const { id, hub } = await observer()
    const poison = [
      { name: 'robots.status', payload: {} },
      { name: 'robots.status', payload: { robots: [null] } },
      { name: 'notification', payload: null },
      { name: 'session.event', payload: null },
    ]
    await write(eventOf(id, 2), ...poison, eventOf(id, 3))
    await hub.saw('session:event', { seq: 3 })
    await world.drained()
    expect(hub.of('session:event').map(({ seq }) => seq)).toEqual([2, 3])
    const reports = world.errors.splice(0)
    expect(reports).toHaveLength(poison.length)
    for (const report of reports) expect(report).toMatch(/robots\.status|notification|session\.event/)
    // The relay continues.
    await write(eventOf(id, 4))
    await hub.saw('session:event', { seq: 4 })
  })

  test('a burst of robots in one event reaches each owner with their own robots only', async () => {
    const owners = [await world.client(), await world.client()]
    const hubs = await Promise.all(owners.map((owner) => owner.hub()))
    for (const hub of hubs) await hub.send('robots:watch')
    const robots = Array.from({ length: 500 }, (_, index) => ({
      robot_id: randomUUID(),
      status: 'OFFLINE',
      last_heartbeat: null,
      owner_id: owners[index % 2]?.id,
      robot_type: `burst-${bus}`,
    }))
    await write({ name: 'robots.status', payload: { robots } })
    for (const [index, hub] of hubs.entries()) {
      const own = robots.filter(({ owner_id }) => owner_id === owners[index]?.id)
      await waitFor(() => expect(hub.of('robot:status')).toHaveLength(own.length))
      expect(hub.of('robot:status')).toEqual(
        own.map(({ robot_id, status, last_heartbeat }) => ({ robot_id, status, last_heartbeat })),
      )
    }
  })
})
