import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const CERTIFICATIONS = '/api/operator/certifications'
const ADMIN_LIST = '/api/admin/certifications'
const AVAILABLE = '/api/operator/available-robots'
const FIELDS = ['id', 'robot_type', 'status', 'note', 'reason', 'requested_at', 'decided_at'].sort()

let world: World
let admin: TestUser
/** Advances with every reading, so that "newest first" is unambiguous. */
let clockMs = Date.now()
beforeAll(async () => {
  world = await createWorld({ now: () => new Date(clockMs++) })
  admin = await world.admin()
})
afterAll(() => world[Symbol.asyncDispose]())

let types = 0
/** Returns a robot type that no other test uses. */
const newType = () => `type-${++types}`
const requestCertification = async (operator: TestUser, robotType: string, note?: string) => {
  const reply = await operator.post(CERTIFICATIONS, { robot_type: robotType, ...(note && { note }) })
  expect(reply.status).toBe(201)
  return reply.body.id as string
}
const decide = (id: string, verb: 'approve' | 'reject', user = admin) =>
  user.post(`${ADMIN_LIST}/${id}/${verb}`, verb === 'reject' ? { reason: 'Not yet' } : undefined)

describe('requesting', () => {
  test('answers 201 with a PENDING request, and the list contains it', async () => {
    const operator = await world.operator()
    const robotType = newType()
    const { status, body } = await operator.post(CERTIFICATIONS, {
      robot_type: robotType,
      note: 'I drove one\nfor years',
    })

    expect(status).toBe(201)
    expect(body).toEqual({
      id: body.id,
      robot_type: robotType,
      status: 'PENDING',
      note: 'I drove one\nfor years',
      reason: null,
      requested_at: expect.stringMatching(/Z$/),
      decided_at: null,
    })
    expect((await operator.get(CERTIFICATIONS)).body).toEqual({ certifications: [body] })
  })

  test('a type twice answers 409 while the first request is PENDING or APPROVED', async () => {
    const operator = await world.operator()
    const robotType = newType()
    const id = await requestCertification(operator, robotType)
    expect(await operator.post(CERTIFICATIONS, { robot_type: robotType })).toMatchObject({ status: 409 })

    await decide(id, 'approve')
    const again = await operator.post(CERTIFICATIONS, { robot_type: robotType })
    expect(again).toMatchObject({ status: 409, body: { error: expect.any(String) } })
    expect((await operator.get(CERTIFICATIONS)).body.certifications).toHaveLength(1)
  })

  test('succeeds after a rejection, and for another operator at any time', async () => {
    const [operator, secondOperator] = [await world.operator(), await world.operator()]
    const robotType = newType()
    const first = await requestCertification(operator, robotType)
    await requestCertification(secondOperator, robotType)
    await decide(first, 'reject')

    const second = await requestCertification(operator, robotType)
    expect((await operator.get(CERTIFICATIONS)).body.certifications).toMatchObject([
      { id: second, status: 'PENDING' },
      { id: first, status: 'REJECTED' },
    ])
  })

  test('twenty times concurrently creates one request', async () => {
    const operator = await world.operator()
    const robotType = newType()
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => operator.post(CERTIFICATIONS, { robot_type: robotType })),
    )
    const statuses = replies.map((reply) => reply.status)
    expect(statuses.filter((status) => status === 201)).toHaveLength(1)
    expect(statuses.filter((status) => status === 409)).toHaveLength(19)
  })

  test.each([
    ['robot_type', {}],
    ['robot_type', { robot_type: ' ' }],
    ['robot_type', { robot_type: 'a\0' }],
    ['note', { robot_type: 'fine', note: 'a'.repeat(2_001) }],
    ['note', { robot_type: 'fine', note: null }],
    ['status', { robot_type: 'fine', status: 'APPROVED' }],
  ])('answers 400 naming %s for %j', async (field, body) => {
    const operator = await world.operator()
    const reply = await operator.post(CERTIFICATIONS, body)
    expect(reply).toMatchObject({ status: 400, body: { error: expect.stringContaining(field) } })
  })
})

describe('deciding', () => {
  test.each([
    ['approve', 'APPROVED', 'certification.approved'],
    ['reject', 'REJECTED', 'certification.rejected'],
  ] as const)('%s makes it %s and notifies the operator', async (verb, status, type) => {
    const operator = await world.operator()
    const robotType = newType()
    const id = await requestCertification(operator, robotType, 'please')
    const reply = await decide(id, verb)

    expect(reply.status).toBe(200)
    expect(reply.body).toEqual({
      id,
      robot_type: robotType,
      status,
      note: 'please',
      requested_at: expect.any(String),
      decided_at: expect.stringMatching(/Z$/),
      operator_id: operator.id,
      operator_name: operator.name,
      reason: verb === 'reject' ? 'Not yet' : null,
    })
    const [own] = (await operator.get(CERTIFICATIONS)).body.certifications
    expect(Object.keys(own).sort()).toEqual(FIELDS)
    expect(own).toMatchObject({ id, status, decided_at: reply.body.decided_at })
    expect((await operator.get('/api/notifications')).body.notifications).toMatchObject([
      { id: '1', type, data: { certification_id: id, robot_type: robotType } },
    ])
  })

  test('is final: a second decision answers 409 and changes nothing', async () => {
    const operator = await world.operator()
    const decided = {
      approve: await requestCertification(operator, newType()),
      reject: await requestCertification(operator, newType()),
    }
    await decide(decided.approve, 'approve')
    await decide(decided.reject, 'reject')

    for (const id of Object.values(decided)) {
      for (const verb of ['approve', 'reject'] as const) {
        expect(await decide(id, verb)).toMatchObject({ status: 409, body: { error: expect.any(String) } })
      }
    }
    const list = (await operator.get(CERTIFICATIONS)).body.certifications
    expect(list).toMatchObject([
      { id: decided.reject, status: 'REJECTED' },
      { id: decided.approve, status: 'APPROVED' },
    ])
    expect((await operator.get('/api/notifications')).body.notifications).toHaveLength(2)
  })

  test('both ways concurrently results in one decision and one notification', async () => {
    const operator = await world.operator()
    const id = await requestCertification(operator, newType())
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, index) => decide(id, index % 2 ? 'approve' : 'reject')),
    )
    expect(replies.map((reply) => reply.status).sort()).toEqual([200, ...Array(9).fill(409)])
    expect((await operator.get('/api/notifications')).body.notifications).toHaveLength(1)
  })

  test('an unknown request answers 404', async () => {
    for (const verb of ['approve', 'reject'] as const) {
      expect(await decide(randomUUID(), verb)).toMatchObject({
        status: 404,
        body: { error: 'Certification not found' },
      })
    }
  })

  test('is for admins only; it rejects the operator of the request and the owner of the robot', async () => {
    const [operator, owner] = [await world.operator(), await world.client()]
    const id = await requestCertification(operator, newType())
    for (const user of [operator, owner, await world.newUser()]) {
      for (const verb of ['approve', 'reject'] as const) {
        expect(await decide(id, verb, user)).toMatchObject({ status: 403 })
      }
      expect(await user.get(ADMIN_LIST)).toMatchObject({ status: 403 })
    }
    expect((await operator.get(CERTIFICATIONS)).body.certifications).toMatchObject([{ status: 'PENDING' }])
  })
})

test('admins list requests by status, oldest first, with the operator’s name', async () => {
  const [firstOperator, two] = [await world.operator(), await world.operator()]
  const ids = [
    await requestCertification(firstOperator, newType()),
    await requestCertification(two, newType()),
    await requestCertification(firstOperator, newType()),
  ]
  await decide(ids[1] as string, 'approve')
  const ours = (reply: { body: { certifications: { id: string }[] } }) =>
    reply.body.certifications.filter((entry) => ids.includes(entry.id))

  const all = await admin.get(ADMIN_LIST)
  expect(all.status).toBe(200)
  expect(ours(all).map((entry) => entry.id)).toEqual(ids)
  expect(ours(all)).toMatchObject([
    { operator_id: firstOperator.id, operator_name: firstOperator.name },
    {},
    {},
  ])
  const pending = ours(await admin.get(`${ADMIN_LIST}?status=PENDING`))
  expect(pending.map((entry) => entry.id)).toEqual([ids[0], ids[2]])
  expect(ours(await admin.get(`${ADMIN_LIST}?status=APPROVED`))).toMatchObject([{ id: ids[1] }])
  await decide(ids[2] as string, 'approve')
  const approved = ours(await admin.get(`${ADMIN_LIST}?status=APPROVED`))
  expect(
    approved.map((entry) => entry.id),
    'newest first',
  ).toEqual([ids[2], ids[1]])
  for (const query of ['status=OPEN', 'status=', 'state=PENDING']) {
    expect((await admin.get(`${ADMIN_LIST}?${query}`)).status, query).toBe(400)
  }
})

describe('available robots', () => {
  test('are AVAILABLE robots of approved types, newest first, without their owner’s secrets', async () => {
    const [owner, operator] = [await world.client(), await world.operator()]
    const types = { approved: newType(), pending: newType(), rejected: newType(), never: newType() }
    await decide(await requestCertification(operator, types.approved), 'approve')
    await requestCertification(operator, types.pending)
    await decide(await requestCertification(operator, types.rejected), 'reject')

    const made: Record<string, { id: string; token: string }> = {}
    for (const [name, robotType] of Object.entries(types)) {
      made[name] = await world.robot(owner, {
        robot_type: robotType,
        notes: 'key under the mat',
        require_certification: true,
      })
      ;(await world.connect(made[name])).beat()
    }
    const certified = { robot_type: types.approved, require_certification: true }
    await world.robot(owner, certified) // never connected
    const newest = await world.robot(owner, { ...certified, tags: ['lab'] })
    const link = (await world.connect(newest)).beat()

    const reply = await operator.get(AVAILABLE)
    expect(reply.status).toBe(200)
    expect(Object.keys(reply.body)).toEqual(['robots'])
    expect(reply.body.robots).toMatchObject([
      { id: newest.id, robot_type: types.approved, status: 'AVAILABLE', tags: ['lab'] },
      { id: made.approved?.id },
    ])
    for (const robot of reply.body.robots) {
      expect(Object.keys(robot).sort()).toEqual(
        [
          ...['id', 'name', 'robot_type', 'status', 'tags', 'last_heartbeat', 'battery', 'owner_name'],
          ...['earnings_cents_per_minute', 'gateway_url', 'busy_since', 'free_at'],
        ].sort(),
      )
    }

    await link.close()
    const listed = async () => (await operator.get(AVAILABLE)).body.robots.map((r: { id: string }) => r.id)
    await expect.poll(listed).toEqual([made.approved?.id])
    const driver = await world.operator()
    await decide(await requestCertification(driver, types.approved), 'approve')
    const { sessionId } = (await driver.post('/api/sessions', { robotId: made.approved?.id })).body
    expect(await listed()).toEqual([])
    await driver.patch(`/api/sessions/${sessionId}`, { action: 'end' })
    expect(await listed()).toEqual([made.approved?.id])
    await owner.delete(`/api/client/robots/${made.approved?.id}`)
    expect(await listed()).toEqual([])
  })

  test('include only types of the operator’s own certifications', async () => {
    const [owner, certified, uncertified] = [
      await world.client(),
      await world.operator(),
      await world.operator(),
    ]
    const robotType = newType()
    await decide(await requestCertification(certified, robotType), 'approve')
    const robot = await world.robot(owner, { robot_type: robotType, require_certification: true })
    ;(await world.connect(robot)).beat()

    expect((await certified.get(AVAILABLE)).body.robots).toHaveLength(1)
    expect((await uncertified.get(AVAILABLE)).body).toEqual({ robots: [] })
  })
})
