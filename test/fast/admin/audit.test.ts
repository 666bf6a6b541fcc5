import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { audit } from '../../../src/core/audit/audit.ts'
import { connectTo } from '../../support/database/sql.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const LOG = '/api/admin/audit'

interface Entry {
  readonly id: number
  readonly at: string
  readonly action: string
  readonly subject_id: string
  readonly data: Record<string, unknown>
}

let world: World
let admin: TestUser
beforeAll(async () => {
  world = await createWorld()
  admin = await world.admin()
})
afterAll(() => world[Symbol.asyncDispose]())

const entries = async (query: string) => {
  const reply = await admin.get(`${LOG}?${query}`)
  expect(reply.status).toBe(200)
  return reply.body.entries as Entry[]
}
const about = (subjectId: string) => entries(`subject_id=${subjectId}`)
const actionsOf = async (user: TestUser) =>
  (await entries(`actor_id=${user.id}`)).map((entry) => entry.action).reverse()

describe('privileged actions', () => {
  test.each([
    ['approve', 'certification.approved'],
    ['reject', 'certification.rejected'],
  ])('an admin’s decision creates an entry: %s', async (verb, action) => {
    const operator = await world.operator()
    const { id } = (await operator.post('/api/operator/certifications', { robot_type: 'testbot' })).body
    const why = verb === 'reject' ? { reason: 'No proof of training' } : undefined
    await admin.post(`/api/admin/certifications/${id}/${verb}`, why)
    await admin.post(`/api/admin/certifications/${id}/${verb}`, why) // 409: no change
    expect(await about(id)).toEqual([
      {
        id: expect.any(Number),
        at: expect.stringMatching(/Z$/),
        action,
        actor_id: admin.id,
        actor_name: admin.name,
        subject_type: 'certification',
        subject_id: id,
        subject_name: `${operator.name}, testbot`,
        subject_deleted: false,
        data: { operator_id: operator.id, robot_type: 'testbot', ...why },
      },
    ])
  })

  test('taking a role creates one entry per role', async () => {
    const user = await world.newUser()
    for (const role of ['client', 'client', 'operator']) await user.post('/api/auth/profile', { role })
    await user.post('/api/auth/profile', { display_name: 'Another name' })
    expect((await about(user.id)).map(({ action, data }) => [action, data])).toEqual([
      ['user.role_taken', { role: 'operator' }],
      ['user.role_taken', { role: 'client' }],
    ])
  })

  test('ten concurrent requests for a role create one entry', async () => {
    const user = await world.newUser()
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => user.post('/api/auth/profile', { role: 'operator' })),
    )
    for (const reply of replies) expect(reply.body.roles).toEqual(['operator'])
    expect(await actionsOf(user)).toEqual(['user.role_taken'])
  })

  test('creating and revoking an API key creates two entries without the key', async () => {
    const user = await world.newUser()
    const { id, key } = await user.key()
    await user.delete(`/api/auth/api-keys/${id}`)
    await user.delete(`/api/auth/api-keys/${id}`) // no change
    const log = await about(id)
    expect(log).toMatchObject([
      { action: 'api_key.revoked', actor_id: user.id, subject_type: 'api_key', data: { name: 'test' } },
      { action: 'api_key.created', actor_id: user.id, subject_type: 'api_key', data: { name: 'test' } },
    ])
    expect(JSON.stringify(log)).not.toContain(key.slice(-10))
    const foreign = await world.newUser()
    const secondKey = await user.key()
    expect((await foreign.delete(`/api/auth/api-keys/${secondKey.id}`)).status).toBe(404)
    expect(await about(secondKey.id)).toHaveLength(1)
  })

  test('rotating a robot’s token and removing the robot creates two entries without the token', async () => {
    const owner = await world.client()
    const robot = await world.robot(owner)
    const rotated = await owner.post(`/api/client/robots/${robot.id}/token`)
    await owner.delete(`/api/client/robots/${robot.id}`)
    expect((await owner.delete(`/api/client/robots/${robot.id}`)).status).toBe(404)
    const log = await about(robot.id)
    expect(log).toMatchObject([
      { action: 'robot.removed', actor_id: owner.id, subject_type: 'robot' },
      { action: 'robot.token_rotated', actor_id: owner.id, data: { token_version: 2 } },
    ])
    expect(JSON.stringify(log)).not.toContain(rotated.body.robot_token.split('.').at(-1))
  })

  test('switching off the limit of the picture’s age creates an entry', async () => {
    const owner = await world.client()
    const robot = await world.robot(owner)
    const path = `/api/client/robots/${robot.id}`
    await owner.patch(path, { name: 'Renamed' })
    await owner.patch(path, { video_limit_ms: null })
    expect(await about(robot.id)).toMatchObject([
      { action: 'robot.video_limit_changed', actor_id: owner.id, data: { video_limit_ms: null } },
      { action: 'robot.settings_changed', actor_id: owner.id, data: { name: 'Renamed' } },
    ])
  })

  test('a rejected removal of a robot in a session creates no entry', async () => {
    const [owner, operator] = [await world.client(), await world.operator()]
    const robot = await world.robot(owner)
    ;(await world.connect(robot)).beat()
    const { sessionId } = (await operator.post('/api/sessions', { robotId: robot.id })).body
    expect((await owner.delete(`/api/client/robots/${robot.id}`)).status).toBe(409)
    expect(await about(robot.id)).toEqual([])
    await operator.patch(`/api/sessions/${sessionId}`, { action: 'end' })
  })

  test('starting or scheduling a session creates an entry for an admin and no entry for the operator', async () => {
    const [owner, operator] = [await world.client(), await world.operator()]
    const robot = await world.robot(owner)
    ;(await world.connect(robot)).beat()
    const body = { robotId: robot.id, operatorId: operator.id }
    const started = (await admin.post('/api/sessions', body)).body.sessionId
    const data = { operator_id: operator.id, robot_id: robot.id }
    expect(await about(started)).toMatchObject([
      { action: 'session.started_on_behalf', actor_id: admin.id, subject_type: 'session', data },
    ])
    expect((await admin.post('/api/sessions', body)).status).toBe(409)
    await operator.patch(`/api/sessions/${started}`, { action: 'end' })

    const scheduledFor = new Date(Date.now() + 3_600_000).toISOString()
    const planned = (await admin.post('/api/sessions', { ...body, scheduledFor })).body.sessionId
    expect(await about(planned)).toMatchObject([{ action: 'session.scheduled_on_behalf', data }])

    const own = (await operator.post('/api/sessions', { robotId: robot.id })).body.sessionId
    expect(await about(own)).toEqual([])
    await operator.patch(`/api/sessions/${own}`, { action: 'end' })
    expect(await actionsOf(operator)).toEqual(['user.role_taken', 'session.charged', 'session.charged'])
  })
})

describe('GET /api/admin/audit', () => {
  test('lists each entry once, newest first, in pages', async () => {
    const user = await world.newUser()
    const made: string[] = []
    for (let n = 0; n < 5; n++) made.unshift((await user.key()).id)
    const ownItem = `actor_id=${user.id}`
    const first = await entries(`${ownItem}&limit=2`)
    const second = await entries(`${ownItem}&limit=2&before=${first[1]?.id}`)
    const third = await entries(`${ownItem}&limit=2&before=${second[1]?.id}`)
    expect([...first, ...second, ...third].map((entry) => entry.subject_id)).toEqual(made)
    expect((await entries('limit=1'))[0]?.subject_id).toBe(made[0])
  })

  test('filters by actor, by subject, and by both', async () => {
    const [firstUser, two] = [await world.newUser(), await world.newUser()]
    const [a, b] = [await firstUser.key(), await two.key()]
    expect((await entries(`actor_id=${firstUser.id}`)).map((entry) => entry.subject_id)).toEqual([a.id])
    expect((await about(b.id)).map((entry) => entry.subject_id)).toEqual([b.id])
    expect(await entries(`actor_id=${firstUser.id}&subject_id=${b.id}`)).toEqual([])
    expect(await about('nothing')).toEqual([])
  })

  test('filters by action and by time', async () => {
    const user = await world.newUser()
    const { id } = await user.key()
    await user.delete(`/api/auth/api-keys/${id}`)
    const ownItem = `actor_id=${user.id}`
    const all = await entries(ownItem)
    expect(all.map(({ action }) => action)).toEqual(['api_key.revoked', 'api_key.created'])
    expect(await entries(`${ownItem}&action=api_key.created`)).toEqual([all[1]])
    expect(await entries(`${ownItem}&action=api_key`)).toEqual([])

    const [revoked, created] = all.map(({ at }) => encodeURIComponent(at))
    expect(Number(new Date(all[0]!.at))).toBeGreaterThan(Number(new Date(all[1]!.at)))
    expect(await entries(`${ownItem}&since=${revoked}`)).toEqual([all[0]])
    expect(await entries(`${ownItem}&until=${revoked}`)).toEqual([all[1]])
    expect(await entries(`${ownItem}&since=${created}&until=${revoked}`)).toEqual([all[1]])
    const later = encodeURIComponent(all[0]!.at.replace('Z', '+01:00')) // an hour earlier
    expect(await entries(`${ownItem}&until=${later}`)).toEqual([])
  })

  test.each([
    'limit=0',
    'limit=201',
    'before=0',
    'before=x',
    'actor_id=7',
    'subject_id=',
    'action=',
    'since=yesterday',
    'until=2026-11-20',
    'who=x',
  ])('answers 400 to ?%s', async (query) => {
    const field = query.split('=')[0] as string
    const reply = await admin.get(`${LOG}?${query}`)
    expect(reply).toMatchObject({ status: 400, body: { error: expect.stringContaining(field) } })
  })

  test('is for admins only', async () => {
    for (const user of [await world.client(), await world.operator(), await world.newUser()]) {
      expect((await user.get(LOG)).status).toBe(403)
    }
    expect((await fetch(world.baseUrl + LOG)).status).toBe(401)
  })
})

describe('the database', () => {
  test.each([
    ['update', `update audit_log set action = 'nothing'`],
    ['update of the actor', 'update audit_log set actor_id = null'],
    ['delete', 'delete from audit_log'],
    ['truncate', 'truncate audit_log'],
    ['truncate of a referenced table', 'truncate users cascade'],
  ])('rejects %s', async (_what, statement) => {
    const { id } = await admin.key()
    await using sql = await connectTo(world.database.url)
    // Without what the worker adds when it seals a row.
    const content = 'select id, at, actor_id, action, subject_id, data from audit_log order by id'
    const before = (await sql.query(content)).rows
    await expect(sql.query(statement)).rejects.toMatchObject({ code: '23001' })
    expect((await sql.query(content)).rows).toEqual(before)
    expect(await about(id)).toHaveLength(1)
  })

  test('keeps an entry when its actor is removed', async () => {
    const user = await world.newUser()
    const { id } = await user.key()
    await using sql = await connectTo(world.database.url)
    await sql.query('delete from organizations where id = $1', [user.id]) // the last owner stays in it
    await sql.query('delete from users where id = $1', [user.id])
    expect(await about(id)).toMatchObject([
      { action: 'api_key.created', actor_id: null, actor_name: null, data: { name: 'test' } },
    ])
  })

  test('keeps no entry of an action that was rolled back', async () => {
    const id = randomUUID()
    const rolledBack = world.platform.core.db.transaction().execute(async (trx) => {
      await audit(
        { db: trx },
        { at: new Date(), actorId: admin.id, action: 'robot.removed', subject: ['robot', id] },
      )
      throw new Error('rolled back')
    })
    await expect(rolledBack).rejects.toThrow('rolled back')
    expect(await about(id)).toEqual([])
  })
})
