import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isDatabaseUnreachable } from '../../../src/core/errors/errors.ts'
import type { ControlPersistence } from '../../../src/modules/sessions/control/control-persistence.service.ts'
import { createTestDatabase } from '../../support/database/database.ts'
import { createTcpProxy } from '../../support/network/tcp-proxy.ts'
import { openSessionFixture, type SessionFixture } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
let driving: ControlPersistence
beforeAll(async () => {
  world = await createWorld()
  driving = world.platform.sessions.controlPersistence
})
afterAll(() => world[Symbol.asyncDispose]())

const typesOf = (entries: readonly { type: string }[]) => entries.map(({ type }) => type)
const by = (fixture: SessionFixture, user: TestUser) => ({ sessionId: fixture.id, userId: user.id })
const ended = async (fixture: SessionFixture) =>
  expect((await fixture.performAction(fixture.client, 'end')).status).toBe(200)

/** Returns the log, after checking that its numbers start at 1 without a gap. */
async function gaplessLog(fixture: SessionFixture) {
  const entries = await fixture.log()
  expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1))
  return entries
}

describe('a stop that is requested at the gateway', () => {
  test('and an end at the same time: the session ends, and the stop precedes the end or is refused', async () => {
    for (let round = 0; round < 10; round++) {
      const fixture = await openSessionFixture(world)
      const [answer] = await Promise.all([
        driving.recordStop(by(fixture, fixture.client), 'race'),
        fixture.performAction(fixture.operator, 'end'),
      ])
      expect(await fixture.read()).toMatchObject({ status: 'COMPLETED', control: { stop: null } })
      const stopped = answer === 'over' ? [] : ['session.stopped']
      expect(typesOf(await gaplessLog(fixture))).toEqual(['session.started', ...stopped, 'session.ended'])
      await fixture.link.close()
    }
  })

  test('throws while the database is unavailable', async () => {
    const database = await createTestDatabase()
    const proxy = await createTcpProxy(database.url)
    try {
      await using behind = await createWorld({ env: { DATABASE_URL: proxy.url } })
      const fixture = await openSessionFixture(behind)
      const stop = () =>
        behind.platform.sessions.controlPersistence.recordStop(by(fixture, fixture.client), 'now')
      proxy.cut()
      await expect(stop()).rejects.toSatisfy(isDatabaseUnreachable)
      proxy.restore()
      await waitFor(async () => expect(await stop()).toBe(2))
      await fixture.performAction(fixture.client, 'end')
      behind.errors.length = 0
    } finally {
      await proxy[Symbol.asyncDispose]()
      await database.drop()
    }
  })
})

describe('an operator who is lost', () => {
  test('and pauses at the same time: exactly one of them pauses the session', async () => {
    for (let round = 0; round < 10; round++) {
      const fixture = await openSessionFixture(world)
      const [lost, again, ...replies] = await Promise.all([
        driving.operatorLost(fixture.id),
        driving.operatorLost(fixture.id),
        fixture.performAction(fixture.client, 'pause'),
        fixture.performAction(fixture.operator, 'pause'),
      ])
      expect(replies.every(({ status }) => status === 200 || status === 409)).toBe(true)
      const paused = [lost, again, ...replies.map(({ status }) => status === 200)].filter(Boolean)
      expect(paused).toHaveLength(1)
      expect(typesOf(await gaplessLog(fixture))).toEqual(['session.started', 'session.paused'])
      await ended(fixture)
    }
  })

  test('and an end at the same time: the session ends, and may be paused before', async () => {
    for (let round = 0; round < 10; round++) {
      const fixture = await openSessionFixture(world)
      const [lost, end] = await Promise.all([
        driving.operatorLost(fixture.id),
        fixture.performAction(fixture.operator, 'end'),
      ])
      expect(end.status).toBe(200)
      const paused = lost ? ['session.paused'] : []
      expect(typesOf(await gaplessLog(fixture))).toEqual(['session.started', ...paused, 'session.ended'])
      await fixture.link.close()
    }
  })

  test('and a stop at the same time: the stop is in force', async () => {
    for (let round = 0; round < 10; round++) {
      const fixture = await openSessionFixture(world)
      await Promise.all([
        driving.operatorLost(fixture.id),
        driving.recordStop(by(fixture, fixture.client), 'race'),
        driving.operatorLost(fixture.id),
      ])
      expect(await fixture.read()).toMatchObject({ status: 'PAUSED', control: { stop: { reason: 'race' } } })
      const entries = typesOf(await gaplessLog(fixture))
      expect(entries.filter((type) => type === 'session.stopped')).toHaveLength(1)
      expect(entries.length).toBeLessThanOrEqual(3)
      await ended(fixture)
    }
  })
})
