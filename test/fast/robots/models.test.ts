import {
  ControlSchema,
  compileControlSchema,
  compileTelemetrySchema,
  kindsOf,
  TelemetrySchema,
} from '@wheelhouse/protocol'
import { demoLimits, ObserverLink, RobotLink, SimulatedRobot, ticketsOf } from '@wheelhouse/sdk'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ControlMode, RobotCategory } from '../../../src/modules/robots/robot-model.schema.ts'
import { connectTo } from '../../support/database/sql.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const get = async (id: string) => {
  const response = await fetch(`${world.baseUrl}/api/robots/${id}`)
  return { status: response.status, body: await response.json() }
}

test('GET /api/robots: lists every model by name without authentication', async () => {
  const response = await fetch(`${world.baseUrl}/api/robots`)
  const { models } = (await response.json()) as { models: { id: string; name: string }[] }
  const rows = await world.platform.core.db.selectFrom('robot_models').selectAll().orderBy('name').execute()
  const known = rows.map(({ control_schema: _control, telemetry_schema: _telemetry, ...model }) => model)
  expect([response.status, models]).toEqual([200, known])
})

describe('GET /api/robots/{id}', () => {
  test('GET /api/robots/{id}: returns a supported model without authentication', async () => {
    expect(await get('franka-research-3')).toEqual({
      status: 200,
      body: {
        id: 'franka-research-3',
        name: 'Franka Research 3',
        manufacturer: 'Franka Robotics',
        robot_type: 'franka-research-3',
        category: 'arm',
        degrees_of_freedom: 7,
        control_modes: [
          'joint_position',
          'joint_velocity',
          'cartesian_pose',
          'cartesian_velocity',
          'gripper',
        ],
        notes: 'Gripper: the Franka Hand.',
        control_schema: null,
        telemetry_schema: null,
      },
    })
  })

  // Axes without grippers; a mobile base adds one per direction of motion.
  test.each([
    ['so-101', 'The Robot Studio', 5],
    ['viperx-300-s', 'Trossen Robotics', 6],
    ['aloha-2', 'Trossen Robotics', 12],
    ['ur5e', 'Universal Robots', 6],
    ['xarm-6', 'UFACTORY', 6],
    ['kinova-gen3', 'Kinova', 7],
    ['lekiwi', 'SIGRobotics UIUC', 8],
    ['unitree-go2', 'Unitree Robotics', 12],
    ['unitree-g1', 'Unitree Robotics', 23],
    ['boston-dynamics-spot', 'Boston Dynamics', 12],
    ['turtlebot-4', 'Clearpath Robotics', 2],
    ['diffdrive-demo', 'Wheelhouse', 2],
  ])('%s is made by %s and has %i degrees of freedom', async (id, manufacturer, degrees) => {
    expect(await get(id)).toMatchObject({
      status: 200,
      body: { id, manufacturer, degrees_of_freedom: degrees },
    })
  })

  test('every listed model is readable and complete', async () => {
    const models = await world.platform.core.db.selectFrom('robot_models').selectAll().execute()
    expect(models.length).toBeGreaterThanOrEqual(15)
    for (const model of models) {
      const { status, body } = await get(model.id)
      expect(status).toBe(200)
      expect(body).toEqual(model)
      expect(RobotCategory.options).toContain(body.category)
      expect(body.control_modes.length).toBeGreaterThan(0)
      for (const mode of body.control_modes) expect(ControlMode.options).toContain(mode)
    }
  })

  test('returns 404 with the same body for every unsupported model', async () => {
    for (const id of ['r2-d2', 'so-100', 'x']) {
      expect(await get(id)).toEqual({ status: 404, body: { error: 'Robot model not found' } })
    }
  })

  test.each(['SO-101', 'so_101', '-so', 'so-', 'so--101', 'so%20101', 'a'.repeat(65), '%00', "x'--"])(
    '400 naming id for %s',
    async (id) => {
      expect(await get(id)).toEqual({ status: 400, body: { error: expect.stringContaining('id') } })
    },
  )

  test('the id of a registered robot is not a model', async () => {
    const robot = await world.robot(await world.client())
    expect(await get(robot.id)).toMatchObject({ status: 404 })
  })
})

test('the database rejects a model with an unknown category or control mode', async () => {
  await using sql = await connectTo(world.database.url)
  const insert = (category: string, mode: string) =>
    sql
      .query(
        `insert into robot_models (id, name, manufacturer, robot_type, category, degrees_of_freedom, control_modes)
         values ('x', 'X', 'X', 'x', $1, 1, array[$2])`,
        [category, mode],
      )
      .then(
        () => undefined,
        (cause) => cause.constraint as string,
      )
  expect(await insert('spaceship', 'gripper')).toBe('robot_models_category_check')
  expect(await insert('arm', 'telepathy')).toBe('robot_models_control_modes')
  expect(await insert('arm', 'gripper')).toBeUndefined()
})

describe('the control schema', () => {
  test('of the simulated robot allows the commands at its full speeds, and no more', async () => {
    const rules = compileControlSchema(ControlSchema.parse((await get('diffdrive-demo')).body.control_schema))
    const { maxLinearMps, maxAngularRadps } = demoLimits
    const full = { linear_mps: -maxLinearMps, angular_radps: maxAngularRadps }
    expect(rules.problemOf(full)).toBeUndefined()
    expect(rules.clamp({ linear_mps: 9, angular_radps: 9 }, 1)).toEqual({
      linear_mps: maxLinearMps,
      angular_radps: maxAngularRadps,
    })
    for (const data of [{ linear_mps: 1.1 }, { angular_radps: -1.6 }])
      expect(rules.problemOf(data)).toBeDefined()
  })

  const speed = { type: 'number', minimum: -1, maximum: 1, 'x-unit': 'm/s', 'x-speed': true }
  const schema = { type: 'object', properties: { linear_mps: speed }, additionalProperties: false }
  const route = '/api/admin/robot-models/turtlebot-4'

  test('of a model is declared by admins, audited, and applies to its robots without their own', async () => {
    const [admin, owner, operator] = [await world.admin(), await world.client(), await world.operator()]
    expect((await owner.patch(route, { control_schema: schema })).status).toBe(403)
    const declared = await admin.patch(route, { control_schema: schema })
    expect(declared).toMatchObject({ status: 200, body: { id: 'turtlebot-4', control_schema: schema } })
    expect((await get('turtlebot-4')).body).toEqual(declared.body)
    const { entries } = (await admin.get('/api/admin/audit?limit=1')).body
    const subject = { subject_type: 'robot_model', subject_id: 'turtlebot-4' }
    expect(entries).toMatchObject([
      { action: 'robot_model.control_schema_set', actor_id: admin.id, ...subject },
    ])

    const robot = await world.robot(owner, { robot_type: 'turtlebot-4' })
    const link = (await world.connect(robot)).beat()
    const { sessionId } = (await operator.post('/api/sessions', { robotId: robot.id })).body
    const effective = async () => (await operator.get(`/api/sessions/${sessionId}`)).body.control_schema
    expect(await effective()).toEqual(schema)
    const own = { type: 'object', properties: { lamp: { type: 'boolean' } } }
    const changed = await owner.patch(`/api/client/robots/${robot.id}`, { control_schema: own })
    expect(changed).toMatchObject({ status: 200, body: { control_schema: own, strict_control: false } })
    expect(await effective()).toEqual(own)
    await owner.patch(`/api/client/robots/${robot.id}`, { control_schema: null })
    expect(await effective()).toEqual(schema)
    expect((await admin.patch(route, { control_schema: null })).body.control_schema).toBeNull()
    expect(await effective()).toBeNull()
    await operator.patch(`/api/sessions/${sessionId}`, { action: 'end' })
    await link.close()
  })

  test.each([
    [
      { type: 'object', properties: { a: { type: 'string', pattern: '(a+)+$' } } },
      'control_schema.properties.a',
    ],
    [{ type: 'object', properties: { a: { $ref: 'https://example.com' } } }, 'control_schema.properties.a'],
    [{ type: 'object', properties: { a: { type: 'boolean', title: '\0' } } }, 'control_schema.properties.a'],
    [{ type: 'array' }, 'control_schema'],
    ['text', 'control_schema'],
  ])('%j is refused with the path of the problem', async (control_schema, path) => {
    const [admin, owner] = [await world.admin(), await world.client()]
    const robot = await world.robot(owner)
    const replies = [
      await admin.patch(route, { control_schema }),
      await owner.patch(`/api/client/robots/${robot.id}`, { control_schema }),
    ]
    for (const reply of replies) {
      expect(reply.status).toBe(400)
      expect(reply.body.error).toContain(path)
    }
  })

  test('keeps the other one when only one is declared, and an empty change is refused', async () => {
    const admin = await world.admin()
    const path = '/api/admin/robot-models/xarm-6'
    const control_schema = { type: 'object', properties: { lamp: { type: 'boolean' } } }
    const telemetry_schema = {
      type: 'object',
      properties: { battery: { type: 'number', 'x-kind': 'battery' } },
    }
    expect((await admin.patch(path, { control_schema })).body).toMatchObject({ telemetry_schema: null })
    const both = { control_schema, telemetry_schema }
    expect((await admin.patch(path, { telemetry_schema })).body).toMatchObject(both)
    const { entries } = (await admin.get('/api/admin/audit?limit=1')).body
    expect(entries).toMatchObject([
      { action: 'robot_model.telemetry_schema_set', subject_id: 'xarm-6', data: { declared: true } },
    ])
    for (const body of [{}, { notes: 'x' }]) expect((await admin.patch(path, body)).status).toBe(400)
    expect((await get('xarm-6')).body).toMatchObject(both)
  })

  test('of an unknown model is a 404', async () => {
    const reply = await (await world.admin()).patch('/api/admin/robot-models/no-such', {
      control_schema: null,
    })
    expect(reply.status).toBe(404)
  })
})

describe('the telemetry schema', () => {
  test('of the simulated robot allows what it sends, and names the kinds of it', async () => {
    const schema = TelemetrySchema.parse((await get('diffdrive-demo')).body.telemetry_schema)
    const kinds = [...kindsOf(schema)].map(({ kind }) => kind).sort()
    expect(kinds).toEqual(['battery', 'obstacles', 'pose', 'velocity'])
    const [owner, operator] = [await world.client(), await world.operator()]
    const { id, token } = await world.robot(owner, { robot_type: 'diffdrive-demo' })
    const robot = new SimulatedRobot({ url: `${world.gatewayUrl}/robots/${id}/control`, token })
    await robot.start()
    const { sessionId } = (await operator.post('/api/sessions', { robotId: id })).body
    const samples: unknown[] = []
    const link = new ObserverLink({
      getTicket: ticketsOf({ baseUrl: world.baseUrl, token: operator.token, sessionId, part: 'watch' }),
      onTelemetry: (sample) => samples.push(sample),
    })
    await link.connect()
    await waitFor(() => expect(samples.length).toBeGreaterThan(0))
    const rules = compileTelemetrySchema(schema)
    expect(rules.problemOf(samples[0])).toBeUndefined()
    expect(rules.problemOf({ ...(samples[0] as object), pose: 'here' })).toContain('pose')
    await link.close()
    await operator.patch(`/api/sessions/${sessionId}`, { action: 'end' })
    await robot.close()
  })

  test('of a model applies to its robots without their own, and reaches robot and operator', async () => {
    const [admin, owner, operator] = [await world.admin(), await world.client(), await world.operator()]
    const declared = {
      type: 'object',
      properties: { battery: { type: 'number', minimum: 0, maximum: 1, 'x-kind': 'battery' } },
    }
    const own = { type: 'object', properties: { lamp: { type: 'boolean' } } }
    await admin.patch('/api/admin/robot-models/kinova-gen3', { telemetry_schema: declared })
    const { id, token } = await world.robot(owner, { robot_type: 'kinova-gen3' })
    const problems: string[] = []
    const sessions: unknown[] = []
    const robot = new RobotLink({
      url: `${world.gatewayUrl}/robots/${id}/control`,
      token,
      telemetrySchema: 'platform',
      onInvalidTelemetry: (problem) => problems.push(problem),
      onSession: (session) => sessions.push(session),
    })
    await robot.connect()
    expect(robot.telemetry({ battery: 'full' }), 'without a session there is no schema').toBe(true)
    const { sessionId } = (await operator.post('/api/sessions', { robotId: id })).body
    await waitFor(() => expect(sessions.at(-1)).toMatchObject({ telemetry_schema: declared }))
    expect(robot.telemetry({ battery: 'full' })).toBe(false)
    expect(problems).toEqual([expect.stringContaining('battery')])
    expect(robot.telemetry({ battery: 0.5 })).toBe(true)
    const detail = async () => (await operator.get(`/api/sessions/${sessionId}`)).body
    expect(await detail()).toMatchObject({ telemetry_schema: declared, control_schema: null })

    const changed = await owner.patch(`/api/client/robots/${id}`, { telemetry_schema: own })
    expect(changed).toMatchObject({ status: 200, body: { telemetry_schema: own } })
    expect(await detail()).toMatchObject({ telemetry_schema: own })
    await operator.patch(`/api/sessions/${sessionId}`, { action: 'pause' })
    await waitFor(() => expect(sessions.at(-1)).toMatchObject({ status: 'PAUSED', telemetry_schema: own }))
    expect(robot.telemetry({ battery: 'full' }), 'its own schema does not declare it').toBe(true)
    expect(robot.telemetry({ lamp: 1 })).toBe(false)
    await operator.patch(`/api/sessions/${sessionId}`, { action: 'end' })
    await robot.close()
  })

  test('of more than 24 KiB is declared, and not sent to the robot', async () => {
    const [owner, operator] = [await world.client(), await world.operator()]
    const description = '€'.repeat(500)
    const fields = Array.from({ length: 20 }, (_, n) => [`f${n}`, { type: 'boolean', description }] as const)
    const telemetry_schema = { type: 'object', properties: Object.fromEntries(fields) }
    expect(Buffer.byteLength(JSON.stringify(telemetry_schema))).toBeGreaterThan(24 * 1024)
    const robot = await world.robot(owner)
    const reply = await owner.patch(`/api/client/robots/${robot.id}`, { telemetry_schema })
    expect(reply).toMatchObject({ status: 200, body: { telemetry_schema } })
    const sessions: object[] = []
    const link = new RobotLink({
      url: `${world.gatewayUrl}/robots/${robot.id}/control`,
      token: robot.token,
      onSession: (session) => session && sessions.push(session),
    })
    await link.connect()
    const { sessionId } = (await operator.post('/api/sessions', { robotId: robot.id })).body
    await waitFor(() => expect(sessions).toHaveLength(1))
    expect(sessions[0]).not.toHaveProperty('telemetry_schema')
    await operator.patch(`/api/sessions/${sessionId}`, { action: 'end' })
    await link.close()
  })

  test.each([
    [{ type: 'object', properties: { a: { type: 'string' } } }, 'telemetry_schema.properties.a'],
    [
      { type: 'object', properties: { a: { type: 'number', 'x-kind': 'scan' } } },
      'telemetry_schema.properties.a',
    ],
    [{ type: 'array' }, 'telemetry_schema'],
  ])('%j is refused with the path of the problem', async (telemetry_schema, path) => {
    const [admin, owner] = [await world.admin(), await world.client()]
    const robot = await world.robot(owner)
    for (const reply of [
      await admin.patch('/api/admin/robot-models/ur5e', { telemetry_schema }),
      await owner.patch(`/api/client/robots/${robot.id}`, { telemetry_schema }),
    ]) {
      expect(reply.status).toBe(400)
      expect(reply.body.error).toContain(path)
    }
  })
})
