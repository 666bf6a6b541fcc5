import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { openScene, type Scene } from './support/cast.ts'
import { createTestDatabase } from './support/database.ts'
import type { Person } from './support/person.ts'
import { connectTo } from './support/sql.ts'
import { createTcpProxy } from './support/tcp-proxy.ts'
import { createWorld, type World } from './support/world.ts'

const patience = { timeout: 20_000, interval: 20 }
const MINUTE_MS = 60_000
let world: World
let clockMs = Date.now()
beforeAll(async () => {
  world = await createWorld({ now: () => new Date(clockMs) })
})
afterAll(() => world[Symbol.asyncDispose]())

const stop = (scene: Scene, person: Person) => scene.act(person, 'emergency_stop', 'smoke')
const clear = (scene: Scene, person: Person) => scene.act(person, 'clear_stop')
const ask = (scene: Scene, person: Person) => scene.act(person, 'request_clear_stop')
const typesOf = (entries: readonly { type: string }[]) => entries.map(({ type }) => type)
const stopSeenBy = async (scene: Scene, person: Person) => (await scene.read(person)).control.stop
const onlyOwner = { status: 403, body: { error: expect.stringContaining('owner or an admin') } }
const set = (scene: Scene, stop_clear: string) =>
  scene.client.patch(`/api/client/robots/${scene.robotId}`, { stop_clear })

/** A second person of a scene: an owner, its operator, or an admin. */
const personOf = async (scene: Scene, who: 'client' | 'operator' | 'admin') =>
  who === 'admin' ? await world.admin() : scene[who]

describe('a robot whose session ends under a stop of the owner or an admin', () => {
  const robotOf = async (scene: Scene) => (await scene.client.get(`/api/client/robots/${scene.robotId}`)).body
  const available = async (scene: Scene) =>
    (await scene.operator.get('/api/operator/available-robots')).body.robots.some(
      ({ id }: { id: string }) => id === scene.robotId,
    )
  const start = (scene: Scene) => scene.operator.post('/api/sessions', { robotId: scene.robotId })

  test.each(['client', 'admin'] as const)('by the %s is on hold until its owner releases it', async (who) => {
    const scene = await openScene(world)
    await stop(scene, await personOf(scene, who))
    expect(await scene.act(scene.operator, 'end')).toMatchObject({ status: 200 })

    expect(await robotOf(scene)).toMatchObject({ status: 'AVAILABLE', on_hold: true })
    expect(await available(scene)).toBe(false)
    const onHold = { status: 409, body: { error: expect.stringContaining('on hold') } }
    expect(await start(scene)).toMatchObject(onHold)
    const later = new Date(clockMs + 3_600_000).toISOString()
    expect(
      await scene.operator.post('/api/sessions', { robotId: scene.robotId, scheduledFor: later }),
    ).toMatchObject(onHold)

    const released = await scene.client.patch(`/api/client/robots/${scene.robotId}`, { on_hold: false })
    expect(released).toMatchObject({ status: 200, body: { on_hold: false } })
    expect(await available(scene)).toBe(true)
    expect(await start(scene)).toMatchObject({ status: 201 })
  })

  test.each(['client', 'admin'] as const)('is free when the %s ends it', async (who) => {
    const scene = await openScene(world)
    await stop(scene, scene.client)
    await scene.act(await personOf(scene, who), 'end')
    expect(await robotOf(scene)).toMatchObject({ on_hold: false })
  })

  test('is free after a stop of the operator alone, and where anyone may clear', async () => {
    const scene = await openScene(world)
    await stop(scene, scene.operator)
    await scene.act(scene.operator, 'end')
    expect(await robotOf(scene)).toMatchObject({ on_hold: false })

    const other = await openScene(world)
    await set(other, 'anyone')
    await stop(other, other.client)
    await other.act(other.operator, 'end')
    expect(await robotOf(other)).toMatchObject({ on_hold: false })
  })
})

describe('a stop that the owner or an admin requested', () => {
  test.each(['client', 'admin'] as const)('by the %s is not the operator’s to clear', async (who) => {
    const scene = await openScene(world)
    const person = await personOf(scene, who)
    expect(await stop(scene, person)).toMatchObject({ status: 200 })

    const refused = await clear(scene, scene.operator)
    expect(refused).toMatchObject(onlyOwner)
    expect(refused.body.error).toContain('Ask to clear')
    const hub = await scene.operator.hub()
    expect(await hub.send('session:action', { session_id: scene.id, action: 'clear_stop' })).toMatchObject({
      ...{ ok: false, status: 403 },
    })
    const seen = { by: person.id, by_role: who, clearable_by: 'owner', clear_requested_at: null }
    expect(await stopSeenBy(scene, scene.operator)).toMatchObject({ ...seen, may_clear: false })
    expect(await stopSeenBy(scene, scene.client)).toMatchObject({ ...seen, may_clear: true })
    expect(await stopSeenBy(scene, await world.admin())).toMatchObject({ ...seen, may_clear: true })

    const other = await personOf(scene, who === 'client' ? 'admin' : 'client')
    expect(await clear(scene, other)).toMatchObject({ status: 200, body: { control: { stop: null } } })
    expect(await scene.act(scene.operator, 'resume')).toMatchObject({ status: 200 })
    await scene.act(scene.client, 'end')
  })

  test('stays theirs whoever stops again, and the operator’s becomes theirs by one of theirs', async () => {
    const scene = await openScene(world)
    await stop(scene, scene.operator)
    expect(await stopSeenBy(scene, scene.operator)).toMatchObject({
      ...{ by_role: 'operator', clearable_by: 'anyone', may_clear: true },
    })
    await stop(scene, scene.client)
    await stop(scene, scene.operator)
    await stop(scene, scene.client)
    expect(await stopSeenBy(scene, scene.operator)).toMatchObject({
      ...{ by_role: 'operator', clearable_by: 'owner', may_clear: false },
    })
    expect(await clear(scene, scene.operator)).toMatchObject(onlyOwner)
    // That the clearing was taken away from the operator is in the log, once.
    expect(typesOf(await scene.log())).toEqual(['session.started', 'session.stopped', 'session.stopped'])
    expect((await scene.log())[2]?.data).toMatchObject({ actor_id: scene.client.id, status: 'PAUSED' })

    expect((await clear(scene, scene.client)).status).toBe(200)
    await stop(scene, scene.operator)
    expect((await clear(scene, scene.operator)).status).toBe(200)
    await scene.act(scene.client, 'end')
  })

  test('may be cleared by the operator where the robot is set so, as it is set at that moment', async () => {
    const scene = await openScene(world)
    expect(await set(scene, 'nobody')).toMatchObject({ status: 400 })
    expect(await set(scene, 'anyone')).toMatchObject({ status: 200, body: { stop_clear: 'anyone' } })
    await stop(scene, scene.client)
    expect(await stopSeenBy(scene, scene.operator)).toMatchObject({ clearable_by: 'anyone', may_clear: true })
    expect(await ask(scene, scene.operator)).toMatchObject({ status: 409 })
    await set(scene, 'owner')
    expect(await clear(scene, scene.operator)).toMatchObject(onlyOwner)
    await set(scene, 'anyone')
    expect((await clear(scene, scene.operator)).status).toBe(200)
    await scene.act(scene.client, 'end')
  })

  test('on a self-operated robot is cleared by its owner, who drives', async () => {
    const both = await world.somebody()
    for (const role of ['client', 'operator']) await both.post('/api/auth/profile', { role })
    const robot = await world.robot(both)
    await (await world.connect(robot)).beat()
    const { sessionId } = (await both.post('/api/sessions', { robotId: robot.id })).body
    const path = `/api/sessions/${sessionId}`
    const stopped = await both.patch(path, { action: 'emergency_stop' })
    expect(stopped.body.control.stop).toMatchObject({ by_role: 'client', may_clear: true })
    expect(await both.patch(path, { action: 'request_clear_stop' })).toMatchObject({ status: 409 })
    expect(await both.patch(path, { action: 'clear_stop' })).toMatchObject({ status: 200 })
    await both.patch(path, { action: 'end' })
  })

  test('is never cleared by an operator who is just clearing their own', async () => {
    const scene = await openScene(world)
    for (let round = 0; round < 10; round++) {
      await stop(scene, scene.operator)
      const [cleared, stopped] = await Promise.all([clear(scene, scene.operator), stop(scene, scene.client)])
      expect(stopped.status).toBe(200)
      expect([200, 403, 409]).toContain(cleared.status)
      expect(await stopSeenBy(scene, scene.operator)).toMatchObject({ clearable_by: 'owner' })
      expect((await clear(scene, scene.client)).status).toBe(200)
    }
    await scene.act(scene.client, 'end')
  })

  test('leaves nothing in the row when it ends, by the database’s own word', async () => {
    const scene = await openScene(world)
    await stop(scene, scene.client)
    await using database = await connectTo(world.database.url)
    // As processes of the version before clear it, which know nothing of requesters.
    await database.query(
      'update sessions set stop_at = null, stop_reason = null, stop_by_id = null where id = $1',
      [scene.id],
    )
    const { rows } = await database.query('select stop_by_role, stop_by_owner from sessions where id = $1', [
      scene.id,
    ])
    expect(rows).toEqual([{ stop_by_role: null, stop_by_owner: false }])
    expect((await scene.act(scene.operator, 'end')).status).toBe(200)
  })
})

describe('the operator asks to clear', () => {
  test('the owner sees it at once, in the log, as a notification and in the session', async () => {
    const scene = await openScene(world)
    await stop(scene, scene.client)
    const hub = await scene.client.hub()
    expect(await scene.act(scene.operator, 'request_clear_stop', 'It was my cat')).toMatchObject({
      ...{ status: 200, body: { status: 'PAUSED', control: { stop: { may_clear: false } } } },
    })
    await hub.saw('notification', { type: 'session.stop_clear_requested' })
    expect(await scene.told(scene.client)).toMatchObject([
      { type: 'session.stopped' },
      { type: 'session.stop_clear_requested', data: { session_id: scene.id, reason: 'It was my cat' } },
    ])
    expect((await scene.log()).at(-1)).toMatchObject({
      ...{ type: 'session.stop_clear_requested', data: { actor_id: scene.operator.id, status: 'PAUSED' } },
    })
    expect(await stopSeenBy(scene, scene.client)).toMatchObject({
      clear_requested_at: new Date(clockMs).toISOString(),
    })
    await clear(scene, scene.client)
    await stop(scene, scene.client)
    expect(await stopSeenBy(scene, scene.client)).toMatchObject({ clear_requested_at: null })
    await scene.act(scene.client, 'end')
  })

  test('at most once a minute, however often, and the admin who stopped hears of it too', async () => {
    const scene = await openScene(world)
    const admin = await world.admin()
    await stop(scene, admin)
    const replies = await Promise.all(Array.from({ length: 10 }, () => ask(scene, scene.operator)))
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200))
    const asked = async (person: Person) =>
      typesOf(await scene.told(person)).filter((type) => type === 'session.stop_clear_requested')
    for (const person of [scene.client, admin]) expect(await asked(person)).toHaveLength(1)
    clockMs += MINUTE_MS
    await ask(scene, scene.operator)
    for (const person of [scene.client, admin]) expect(await asked(person)).toHaveLength(2)
    await scene.act(scene.client, 'end')
  })

  test('is for the operator alone, and for a stop that they cannot clear', async () => {
    const scene = await openScene(world)
    expect(await ask(scene, scene.operator)).toMatchObject({ status: 409 })
    await stop(scene, scene.operator)
    expect(await ask(scene, scene.operator)).toMatchObject({
      ...{ status: 409, body: { error: 'You can clear this stop yourself.' } },
    })
    for (const person of [scene.client, await world.admin()]) {
      expect(await ask(scene, person)).toMatchObject({ status: 403 })
    }
    await scene.act(scene.client, 'end')
  })
})

describe('at the gateway', () => {
  test('every frame says who requested the stop and who may clear it', async () => {
    const scene = await openScene(world)
    await scene.link.next('session')
    const driver = await world.drive(scene.operator, scene.id)
    const watcher = await world.drive(scene.client, scene.id, 'watch')
    driver.send({ type: 'stop', reason: 'mine' })
    const own = { reason: 'mine', by_role: 'operator', clearable_by: 'anyone' }
    const mine = await watcher.state(({ stop }) => stop?.recorded)
    expect(mine.stop).toMatchObject(own)

    watcher.send({ type: 'stop', reason: 'no, mine' })
    const theirs = await driver.state(({ stop }) => stop?.clearable_by === 'owner' && stop.recorded)
    expect(theirs.stop).toMatchObject({ ...own, clearable_by: 'owner' })
    await vi.waitFor(
      async () => expect(await clear(scene, scene.operator)).toMatchObject(onlyOwner),
      patience,
    )
    await set(scene, 'anyone')
    await driver.state(({ stop }) => stop?.clearable_by === 'anyone')
    await set(scene, 'owner')
    await driver.state(({ stop }) => stop?.clearable_by === 'owner')
    expect((await clear(scene, scene.client)).status).toBe(200)
    await driver.state(({ stop }) => stop === null || !stop.latched)
    await scene.act(scene.client, 'end')
  })

  test('the owner’s during an outage of the database is theirs, also upon the operator’s', async () => {
    const database = await createTestDatabase()
    const proxy = await createTcpProxy(database.url)
    {
      await using away = await createWorld({
        env: { DATABASE_URL: proxy.url, OPERATOR_GRACE_MS: '60000', HEARTBEAT_TIMEOUT_MS: '30000' },
      })
      const scene = await openScene(away)
      await scene.link.next('session')
      const driver = await away.drive(scene.operator, scene.id)
      const watcher = await away.drive(scene.client, scene.id, 'watch')
      await watcher.state()
      proxy.cut()
      driver.send({ type: 'stop', reason: 'mine' })
      const mine = await watcher.state(({ stop }) => stop?.latched)
      expect(mine.stop).toMatchObject({ recorded: false, by_role: 'operator', clearable_by: 'anyone' })
      watcher.send({ type: 'stop', reason: 'theirs' })
      const theirs = await driver.state(({ stop }) => stop?.clearable_by === 'owner')
      expect(theirs.stop).toMatchObject({ recorded: false, by_role: 'operator', reason: 'mine' })
      driver.send({ type: 'stop', reason: 'mine again' })
      for (const person of [driver, watcher]) person.destroy()

      proxy.heal()
      await vi.waitFor(
        async () =>
          expect(await stopSeenBy(scene, scene.operator)).toMatchObject({
            ...{ by: scene.operator.id, by_role: 'operator', clearable_by: 'owner' },
          }),
        patience,
      )
      expect(await clear(scene, scene.operator)).toMatchObject(onlyOwner)
      away.errors.length = 0
      await vi.waitFor(async () => expect((await clear(scene, scene.client)).status).toBe(200), patience)
      await scene.act(scene.client, 'end')
    }
    await proxy[Symbol.asyncDispose]()
    await database.drop()
  })

  test('the owner’s over a hub that cannot ask the database is theirs', async () => {
    const database = await createTestDatabase()
    const proxy = await createTcpProxy(database.url)
    {
      await using away = await createWorld({
        env: { DATABASE_URL: proxy.url, HEARTBEAT_TIMEOUT_MS: '30000' },
      })
      const scene = await openScene(away)
      await scene.link.next('session')
      const driver = await away.drive(scene.operator, scene.id)
      await driver.state()
      const hub = await scene.client.hub()
      await hub.send('session:watch', { session_id: scene.id })
      proxy.cut()
      const answer = await hub.send('session:action', { session_id: scene.id, action: 'emergency_stop' })
      expect(answer).toMatchObject({ ok: false, status: 503 })
      const { stop } = await driver.state(({ stop }) => stop?.latched)
      expect(stop).toMatchObject({ by_role: 'client', clearable_by: 'owner', recorded: false })
      proxy.heal()
      await vi.waitFor(
        async () => expect(await clear(scene, scene.operator)).toMatchObject(onlyOwner),
        patience,
      )
      await vi.waitFor(async () => expect((await clear(scene, scene.client)).status).toBe(200), patience)
      await scene.act(scene.client, 'end')
      away.errors.length = 0
    }
    await proxy[Symbol.asyncDispose]()
    await database.drop()
  })
})
