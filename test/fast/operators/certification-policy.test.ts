import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectTo } from '../../support/database/sql.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const AVAILABLE = '/api/operator/available-robots'
let world: World
let admin: TestUser
let types = 0
const newType = () => `policy-${++types}`
beforeAll(async () => {
  world = await createWorld()
  admin = await world.admin()
})
afterAll(() => world[Symbol.asyncDispose]())

async function certified(operator: TestUser, robotType: string): Promise<string> {
  const { body } = await operator.post('/api/operator/certifications', { robot_type: robotType })
  expect((await admin.post(`/api/admin/certifications/${body.id}/approve`)).status).toBe(200)
  return body.id
}
const revoke = (id: string, reason: unknown = 'You left the safety course', user = admin) =>
  user.post(`/api/admin/certifications/${id}/revoke`, { reason })
const listed = async (operator: TestUser) =>
  (await operator.get(AVAILABLE)).body.robots.map(({ id }: { id: string }) => id)
const start = (operator: TestUser, robotId: string) => operator.post('/api/sessions', { robotId })
const schedule = (operator: TestUser, robotId: string) =>
  operator.post('/api/sessions', {
    robotId,
    scheduledFor: new Date(Date.now() + 3_600_000).toISOString(),
  })

/** Creates a connected robot, with a new owner by default. */
async function connectedRobot(input: Record<string, unknown>, owner?: TestUser) {
  const client = owner ?? (await world.client())
  const robot = await world.robot(client, input)
  const link = (await world.connect(robot)).beat()
  return { ...robot, client, link }
}

describe('new robots', () => {
  test.each([
    [undefined, false],
    ['false', false],
    ['true', true],
  ])(
    'with ROBOTS_REQUIRE_CERTIFICATION=%s require certified operators: %s, unless the request sets it',
    async (setting, expected) => {
      await using platform = await createWorld(
        setting ? { env: { ROBOTS_REQUIRE_CERTIFICATION: setting } } : {},
      )
      const owner = await platform.client()
      const register = async (hardware_id: string, more = {}) =>
        (await owner.post('/api/client/robots', { name: 'A', robot_type: 'x', hardware_id, ...more })).body
      expect(await register('policy-1')).toMatchObject({ require_certification: expected })
      for (const require_certification of [true, false]) {
        const robot = await register(`policy-${require_certification}`, { require_certification })
        expect(robot).toMatchObject({ require_certification })
      }
    },
  )
})

describe('available robots and start', () => {
  test('agree on every robot for every operator, for immediate and scheduled sessions', async () => {
    const robotType = newType()
    const [owner, formerOwner] = [await world.client(), await world.client()]
    const robots = {
      open: await connectedRobot({ robot_type: robotType }, owner),
      strict: await connectedRobot({ robot_type: robotType, require_certification: true }, owner),
      otherType: await connectedRobot({ robot_type: newType(), require_certification: true }, owner),
      ownerless: await connectedRobot({ robot_type: robotType }, formerOwner),
      missing: await connectedRobot({ robot_type: robotType }, owner),
      removed: await connectedRobot({ robot_type: robotType }, owner),
      away: await connectedRobot({ robot_type: robotType }, owner),
      busy: await connectedRobot({ robot_type: robotType }, owner),
    }
    await admin.delete(`/api/admin/users/${formerOwner.id}/roles/client`)
    await owner.delete(`/api/client/robots/${robots.removed.id}`)
    for (const { id, link } of [robots.missing, robots.away]) {
      await link.close()
      const status = async () => (await owner.get(`/api/client/robots/${id}`)).body.status
      await expect.poll(status).toBe('OFFLINE')
    }
    expect((await start(await world.operator(), robots.busy.id)).status).toBe(201)

    const users = {
      certified: await world.operator(),
      revoked: await world.operator(),
      new: await world.operator(),
    }
    await certified(users.certified, robotType)
    await revoke(await certified(users.revoked, robotType))
    for (const [who, operator] of Object.entries(users)) {
      const shown = new Set(await listed(operator))
      for (const [which, { id }] of Object.entries(robots)) {
        const planned = await schedule(operator, id)
        expect(planned.status === 201, `${who} schedules ${which}: ${planned.status}`).toBe(shown.has(id))
        if (planned.status === 201) {
          await operator.patch(`/api/sessions/${planned.body.sessionId}`, { action: 'cancel' })
        }
        const started = await start(operator, id)
        expect(started.status === 201, `${who} starts ${which}: ${started.status}`).toBe(shown.has(id))
        if (started.status === 201) {
          await operator.patch(`/api/sessions/${started.body.sessionId}`, { action: 'end' })
        }
      }
      const expected = who === 'certified' ? [robots.strict.id, robots.open.id] : [robots.open.id]
      expect(
        (await listed(operator)).filter((id: string) => Object.values(robots).some((item) => item.id === id)),
      ).toEqual(expected)
    }
  })

  test('an operator without a certification receives live status of robots that require no certification', async () => {
    const operator = await world.operator()
    const hub = await operator.hub()
    const { client, ...robot } = await connectedRobot({ robot_type: newType() })
    const strict = await world.robot(client, { robot_type: newType(), require_certification: true })
    const { robots } = await hub.send('robots:watch')
    const ids = robots.map(({ robot_id }: { robot_id: string }) => robot_id)
    expect(ids).toContain(robot.id)
    expect(ids).not.toContain(strict.id)
    await (await world.connect(strict)).close()
    await robot.link.close()
    await hub.saw('robot:status', { robot_id: robot.id, status: 'OFFLINE' })
    expect(hub.of('robot:status').some(({ robot_id }) => robot_id === strict.id)).toBe(false)
  })
})

describe('revoking a certification', () => {
  test('requires a reason, is audited, and notifies the operator', async () => {
    const operator = await world.operator()
    const robotType = newType()
    const id = await certified(operator, robotType)
    for (const reason of ['', '  ', undefined, 7, 'x'.repeat(2_001)]) {
      expect((await admin.post(`/api/admin/certifications/${id}/revoke`, { reason })).status).toBe(400)
    }
    const reply = await revoke(id, 'Too fast')
    expect(reply).toMatchObject({
      status: 200,
      body: { status: 'REVOKED', reason: 'Too fast', operator_id: operator.id },
    })
    expect((await operator.get('/api/operator/certifications')).body.certifications).toMatchObject([
      { id, status: 'REVOKED', reason: 'Too fast' },
    ])
    expect((await operator.get('/api/notifications')).body.notifications[0]).toMatchObject({
      type: 'certification.revoked',
      data: { certification_id: id, robot_type: robotType, reason: 'Too fast' },
    })
    const { entries } = (await admin.get(`/api/admin/audit?subject_id=${id}`)).body
    expect(entries[0]).toMatchObject({
      action: 'certification.revoked',
      actor_id: admin.id,
      data: { reason: 'Too fast' },
    })
    expect(await revoke(id)).toMatchObject({ status: 409 })
    expect(await revoke(id, 'x', operator)).toMatchObject({ status: 403 })
    expect((await operator.post('/api/operator/certifications', { robot_type: robotType })).status).toBe(201)
  })

  test('a rejection requires a reason and returns it', async () => {
    const operator = await world.operator()
    const { body } = await operator.post('/api/operator/certifications', { robot_type: newType() })
    const reject = (reason?: string) =>
      admin.post(`/api/admin/certifications/${body.id}/reject`, reason === undefined ? {} : { reason })
    expect((await reject()).status).toBe(400)
    expect(await reject('Which arm was it?')).toMatchObject({ status: 200 })
    expect((await operator.get('/api/operator/certifications')).body.certifications).toMatchObject([
      { status: 'REJECTED', reason: 'Which arm was it?' },
    ])
    expect((await operator.get('/api/notifications')).body.notifications[0]).toMatchObject({
      data: { reason: 'Which arm was it?' },
    })
    expect(await revoke(body.id)).toMatchObject({ status: 409 })
  })

  test('removes the robots from the list immediately; an open session continues, and no new session starts', async () => {
    const operator = await world.operator()
    const robotType = newType()
    const id = await certified(operator, robotType)
    const robot = await connectedRobot({ robot_type: robotType, require_certification: true })
    const spare = await connectedRobot({ robot_type: robotType, require_certification: true })
    const { sessionId } = (await start(operator, robot.id)).body
    const planned = await world.operator()
    const plannedId = await certified(planned, robotType)
    const later = await schedule(planned, spare.id)
    expect(await listed(operator)).toContain(spare.id)

    expect((await revoke(id)).status).toBe(200)
    expect((await revoke(plannedId)).status).toBe(200)
    expect(await listed(operator)).not.toContain(spare.id)
    const path = `/api/sessions/${sessionId}`
    expect((await operator.get(path)).body.status).toBe('ACTIVE')
    for (const action of ['pause', 'resume'])
      expect((await operator.patch(path, { action })).status).toBe(200)
    expect((await operator.patch(path, { action: 'end' })).status).toBe(200)
    expect(await start(operator, robot.id)).toMatchObject({ status: 403 })
    const begin = await planned.patch(`/api/sessions/${later.body.sessionId}`, { action: 'start' })
    expect(begin.status).toBe(403)
  })

  test('concurrently with a start: the session starts before the revocation, or is rejected', async () => {
    const robotType = newType()
    const robot = await connectedRobot({ robot_type: robotType, require_certification: true })
    const operator = await world.operator()
    const id = await certified(operator, robotType)
    await using sql = await connectTo(world.database.url)
    await sql.query('begin')
    await sql.query(`update certifications set status = 'REVOKED', reason = 'x' where id = $1`, [id])
    const starting = start(operator, robot.id)
    await waitFor(async () => {
      const { rows } = await sql.query('select from pg_locks where not granted')
      expect(rows.length).toBeGreaterThan(0)
    })
    await sql.query('commit')
    expect((await starting).status).toBe(403)
  })
})
