import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import {
  createMailFixture,
  HOUR_MS,
  header,
  type MailFixture,
  MINUTE_MS,
} from '../../support/world/notification-mails.ts'
import type { TestUser } from '../../support/world/test-user.ts'

const PATH = '/api/notifications/settings'

let fixture: MailFixture
beforeAll(async () => {
  fixture = await createMailFixture()
})
afterEach(() => fixture.mail.reset())
afterAll(() => fixture?.[Symbol.asyncDispose]())

/** Returns quiet hours that began an hour ago and end in two hours by the clock of the test, in UTC. */
function quietNow(change: object = {}) {
  const clockIn = (ms: number) => new Date(fixture.now().getTime() + ms).toISOString().slice(11, 16)
  const days = [1, 2, 3, 4, 5, 6, 7]
  return { start: clockIn(-HOUR_MS), end: clockIn(2 * HOUR_MS), time_zone: 'UTC', days, ...change }
}

const set = async (user: TestUser, body: object) => {
  const reply = await user.patch(PATH, body)
  expect(reply.status).toBe(200)
  return reply.body
}

/** Rejects a certification. An approval would change the user's permissions and so reconnect their sockets. */
async function reject(user: TestUser, type: string) {
  const admin = await fixture.world.admin()
  const { body } = await user.post('/api/operator/certifications', { robot_type: type })
  const reply = await admin.post(`/api/admin/certifications/${body.id}/reject`, { reason: 'Not yet' })
  expect(reply.status).toBe(200)
}

describe('the matrix', () => {
  test('is on by default, and changes cell by cell', async () => {
    const user = await fixture.world.operator()
    const { body } = await user.get(PATH)
    expect(body).toMatchObject({ quiet_hours: null, language: null })
    expect(Object.values(body.matrix)).toHaveLength(10)
    for (const row of Object.values(body.matrix))
      expect(row).toEqual({ in_app: true, mail: true, push: true })

    await Promise.all([
      set(user, { matrix: { money: { mail: false }, stops: { mail: false } } }),
      set(user, { matrix: { exports: { in_app: false } } }),
    ])
    await set(user, { matrix: { stops: { mail: true } } })
    const { matrix } = (await user.get(PATH)).body
    expect(matrix.money).toEqual({ in_app: true, mail: false, push: true })
    expect(matrix.stops).toEqual({ in_app: true, mail: true, push: true })
    expect(matrix.exports).toEqual({ in_app: false, mail: true, push: true })
  })

  test.each([
    { matrix: { chess: { mail: true } } },
    { matrix: { money: { fax: true } } },
    { language: 'xx' },
    { quiet_hours: { start: '25:00', end: '07:00', time_zone: 'UTC', days: [1] } },
    { quiet_hours: { start: '22:00', end: '22:00', time_zone: 'UTC', days: [1] } },
    { quiet_hours: { start: '22:00', end: '07:00', time_zone: 'Mars/Base', days: [1] } },
    { quiet_hours: { start: '22:00', end: '07:00', time_zone: 'UTC', days: [] } },
    { quiet_hours: { start: '22:00', end: '07:00', time_zone: 'UTC', days: [1, 1] } },
  ])('rejects %j', async (body) => {
    expect((await (await fixture.world.admin()).patch(PATH, body)).status).toBe(400)
  })

  test('turns mail and pop-ups off for a group, and keeps the list', async () => {
    const user = await fixture.world.operator()
    const socket = await user.hub()
    await set(user, { matrix: { account: { mail: false, in_app: false } } })
    await reject(user, 'silent')
    await set(user, { matrix: { account: { in_app: true } } })
    await reject(user, 'loud')
    await expect.poll(() => socket.of('notification')).toMatchObject([{ id: '2' }])
    const { body } = await user.get('/api/notifications')
    expect(body.notifications).toHaveLength(2)
    expect(await fixture.left(user)).toEqual({ digests: 0, mails: 0 })
  })
})

test('mails are in the language of the user, in English until there is one', async () => {
  const user = await fixture.world.operator()
  await fixture.decide(user)
  fixture.later(2 * MINUTE_MS)
  await fixture.arrived(user, 1)
  expect(header(fixture.to(user)[0]!, 'Subject')).toBe('You are certified for "type-1"')
  expect(await set(user, { language: 'de' })).toMatchObject({ language: 'de', quiet_hours: null })
  // Another change keeps it.
  expect(await set(user, { matrix: { money: { mail: false } } })).toMatchObject({ language: 'de' })
  await fixture.decide(user)
  fixture.later(HOUR_MS)
  await fixture.arrived(user, 2)
  expect(header(fixture.to(user)[1]!, 'Subject')).toBe('Sie sind für „type-2“ zertifiziert')
  expect(await set(user, { language: null })).toMatchObject({ language: null })
})

describe('quiet hours', () => {
  test('hold mail back, which is then sent as one', async () => {
    const user = await fixture.world.operator()
    await set(user, { quiet_hours: quietNow() })
    await fixture.decide(user)
    fixture.later(10 * MINUTE_MS)
    await fixture.run()
    await fixture.decide(user)
    fixture.later(2 * MINUTE_MS)
    await expect
      .poll(async () => {
        await fixture.run()
        const digest = await fixture.db
          .selectFrom('notification_digests')
          .select('due_at')
          .where('user_id', '=', user.id)
          .executeTakeFirstOrThrow()
        return digest.due_at.getTime() - fixture.now().getTime()
      })
      .toBeGreaterThan(HOUR_MS)
    expect(fixture.to(user)).toEqual([])
    fixture.later(2 * HOUR_MS)
    await fixture.arrived(user, 1)
    expect(header(fixture.to(user)[0]!, 'Subject')).toMatch(/\(and 1 more\)$/)
  })

  test('let a remote stop pass, unless the user holds it back', async () => {
    const passing = await fixture.session()
    const held = await fixture.session()
    await set(passing.owner, { quiet_hours: quietNow() })
    await set(held.owner, { quiet_hours: quietNow({ safety_passes: false }) })
    for (const { operator, path } of [held, passing])
      expect((await operator.patch(path, { action: 'emergency_stop' })).status).toBe(200)
    await fixture.arrived(passing.owner, 1)
    await fixture.run()
    expect(fixture.to(held.owner)).toEqual([])
    fixture.later(3 * HOUR_MS)
    await fixture.arrived(held.owner, 1)
  })
})
