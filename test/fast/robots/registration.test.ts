import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TestRobot } from '../../support/gateway/frame-socket.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const ROBOTS = '/api/client/robots'
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000'
/** Exactly the fields of the specification's Robot. */
const ROBOT_FIELDS = [
  'id',
  'name',
  'robot_type',
  'status',
  'control_url',
  'stream_url',
  'hardware_id',
  'last_online',
  'last_heartbeat',
  'total_hours',
  'tags',
  'notes',
  'created_at',
].sort()
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

let world: World
/** Advances with each read, so that "newest first" is unambiguous. */
let clockMs = Date.now()
beforeAll(async () => {
  world = await createWorld({ now: () => new Date(clockMs++) })
})
afterAll(() => world[Symbol.asyncDispose]())

/** The additional fields of a single robot. */
const DETAIL_FIELDS = [
  'operator_notes',
  'require_certification',
  'latency_limit_ms',
  'latency_budget_ms',
  'video_limit_ms',
  'control_schema',
  'telemetry_schema',
  'strict_control',
  'log_event_level',
  'stop_clear',
  'on_hold',
  'recording',
  'recording_days',
  'battery',
  'battery_at',
  'low_battery_threshold',
] as const
const fieldsOf = (body: object) => Object.keys(body).sort()
let boards = 0
const newBoard = () => `hw-${++boards}`
const registration = (more: Record<string, unknown> = {}) => ({
  name: 'Arm',
  robot_type: 'so-101',
  hardware_id: newBoard(),
  ...more,
})

describe('registering', () => {
  test('returns 201 with the robot, its defaults and, only here, its token', async () => {
    const owner = await world.client()
    const made = await owner.post(ROBOTS, registration({ hardware_id: 'board-defaults' }))

    expect(made.status).toBe(201)
    expect(fieldsOf(made.body)).toEqual([...ROBOT_FIELDS, ...DETAIL_FIELDS, 'robot_token'].sort())
    const { id, robot_token: token, created_at: createdAt } = made.body
    expect(made.body).toEqual({
      id,
      name: 'Arm',
      robot_type: 'so-101',
      status: 'OFFLINE',
      hardware_id: 'board-defaults',
      control_url: `${world.gatewayUrl}/robots/${id}/control`,
      stream_url: '',
      tags: [],
      notes: null,
      operator_notes: null,
      last_online: null,
      last_heartbeat: null,
      total_hours: 0,
      require_certification: false,
      latency_limit_ms: 400,
      latency_budget_ms: 200,
      video_limit_ms: 500,
      control_schema: null,
      telemetry_schema: null,
      strict_control: false,
      robot_token: token,
      created_at: createdAt,
      log_event_level: 'error',
      battery: null,
      battery_at: null,
      low_battery_threshold: 0.2,
      stop_clear: 'owner',
      on_hold: false,
      recording: 'off',
      recording_days: null,
    })
    expect(createdAt).toMatch(ISO)
    expect(token.length).toBeGreaterThan(40)
    const reads = [await owner.get(ROBOTS), await owner.get(`${ROBOTS}/${id}`)]
    expect(JSON.stringify(reads.map((reply) => reply.body))).not.toContain(token)
  })

  test('stores the given values', async () => {
    const owner = await world.client()
    const ownerInput = {
      name: 'Küche 🤖',
      robot_type: 'so-101',
      hardware_id: newBoard(),
      tags: ['lab', 'left arm'],
      stream_url: 'rtsp://cam.example/1',
      notes: 'two\nlines',
      require_certification: true,
      latency_budget_ms: null,
      video_limit_ms: null,
    }
    const { body } = await owner.post(ROBOTS, ownerInput)

    expect(body).toMatchObject(ownerInput)
    expect((await owner.get(`${ROBOTS}/${body.id}`)).body).toMatchObject(ownerInput)
  })

  test('returns a control URL and a token with which the robot connects', async () => {
    const owner = await world.client()
    const { body } = await owner.post(ROBOTS, registration())
    const link = new TestRobot(body.control_url, body.robot_token)
    expect(await link.next('welcome')).toMatchObject({ robot_id: body.id, session: null })

    const online = (await owner.get(`${ROBOTS}/${body.id}`)).body
    expect(online).toMatchObject({ status: 'AVAILABLE', last_online: expect.stringMatching(ISO) })
    expect(online.last_heartbeat).toBeNull()
    link.send({ type: 'heartbeat' })
    await waitFor(async () => {
      const { body: beaten } = await owner.get(`${ROBOTS}/${online.id}`)
      expect(beaten.last_heartbeat).toMatch(ISO)
    })
    await link.close()
  })

  test('rejects a hardware_id of another robot, of any owner', async () => {
    const [owner, other] = [await world.client(), await world.client()]
    const board = newBoard()
    expect(await owner.post(ROBOTS, registration({ hardware_id: board }))).toMatchObject({ status: 201 })

    for (const user of [owner, other]) {
      for (const hardwareId of [board, ` ${board} `]) {
        const again = await user.post(ROBOTS, registration({ hardware_id: hardwareId }))
        expect(again.status).toBe(409)
        expect(again.body).toEqual({ error: expect.stringContaining('hardware_id') })
      }
    }
    expect((await other.get(ROBOTS)).body).toEqual([])
  })

  test('accepts the hardware_id of a removed robot', async () => {
    const [owner, other] = [await world.client(), await world.client()]
    const board = newBoard()
    const { body } = await owner.post(ROBOTS, registration({ hardware_id: board }))
    expect((await owner.delete(`${ROBOTS}/${body.id}`)).status).toBe(204)

    const again = await other.post(ROBOTS, registration({ hardware_id: board }))
    expect(again.status).toBe(201)
    expect(again.body.id).not.toBe(body.id)
  })

  // src/modules/robots/robot.schema.test.ts has the limits of every field.
  test.each([
    ['name', { name: undefined }],
    ['stream_url', { stream_url: 'javascript:alert(1)' }],
    ['owner_id', { owner_id: UNKNOWN_ID }],
  ])('returns 400 naming %s for %j', async (field, change) => {
    const owner = await strict()
    const reply = await owner.post(ROBOTS, registration(change))

    expect(reply.status).toBe(400)
    expect(Object.keys(reply.body)).toEqual(['error'])
    expect(reply.body.error).toContain(field)
    expect((await owner.get(ROBOTS)).body).toEqual([])
  })

  let strictOwner: Promise<TestUser> | undefined
  /** Returns the owner for the cases above, whose registrations all fail. */
  const strict = () => {
    strictOwner ??= world.client()
    return strictOwner
  }
})

describe('the list', () => {
  test('is a bare array, newest first, at most 50, with exactly the fields of the specification', async () => {
    const owner = await world.client()
    const ids: string[] = []
    for (let count = 0; count < 52; count++) ids.push((await world.robot(owner)).id)

    const { status, body } = await owner.get(ROBOTS)
    expect(status).toBe(200)
    expect(body).toBeInstanceOf(Array)
    expect(body.map((robot: { id: string }) => robot.id)).toEqual(ids.toReversed().slice(0, 50))
    for (const robot of body) expect(fieldsOf(robot)).toEqual(ROBOT_FIELDS)
  })

  test('contains only the caller’s robots, without removed ones', async () => {
    const [owner, other] = [await world.client(), await world.client()]
    const [kept, removed] = [await world.robot(owner), await world.robot(owner)]
    await world.robot(other)
    await owner.delete(`${ROBOTS}/${removed.id}`)

    expect((await owner.get(ROBOTS)).body).toMatchObject([{ id: kept.id }])
    expect((await owner.get(ROBOTS)).body).toHaveLength(1)
  })
})

describe('settings', () => {
  test('are in the detail of a robot', async () => {
    const owner = await world.client()
    const robot = await world.robot(owner)
    const { status, body } = await owner.get(`${ROBOTS}/${robot.id}`)

    expect(status).toBe(200)
    expect(fieldsOf(body)).toEqual([...ROBOT_FIELDS, ...DETAIL_FIELDS].sort())
  })

  test('change independently of each other', async () => {
    const owner = await world.client()
    const { id } = await world.robot(owner, { notes: 'old', tags: ['one'] })
    let expected = (await owner.get(`${ROBOTS}/${id}`)).body
    const changes = [
      { name: 'New name' },
      { stream_url: 'https://cam.example/live' },
      { stream_url: '' },
      { tags: ['two', 'three'] },
      { tags: [] },
      { notes: 'new' },
      { notes: null },
      { require_certification: true },
      { latency_limit_ms: 150 },
      { latency_budget_ms: 150 },
      { latency_budget_ms: null },
      { video_limit_ms: 300 },
      { video_limit_ms: null },
      { low_battery_threshold: 0.35 },
      { log_event_level: 'off' },
      { name: 'Both', notes: 'at once' },
    ]
    for (const change of changes) {
      expected = { ...expected, ...change }
      const reply = await owner.patch(`${ROBOTS}/${id}`, change)
      expect(reply).toMatchObject({ status: 200 })
      expect(reply.body).toEqual(expected)
      expect((await owner.get(`${ROBOTS}/${id}`)).body).toEqual(expected)
    }
  })

  test.each([
    ['field', {}],
    ['status', { status: 'AVAILABLE' }],
    ['colour', { name: 'fine', colour: 'red' }],
  ])('return 400 naming %s for %j and remain unchanged', async (field, change) => {
    const owner = await world.client()
    const { id } = await world.robot(owner)
    const before = (await owner.get(`${ROBOTS}/${id}`)).body
    const reply = await owner.patch(`${ROBOTS}/${id}`, change)

    expect(reply.status).toBe(400)
    expect(reply.body).toEqual({ error: expect.stringContaining(field) })
    expect((await owner.get(`${ROBOTS}/${id}`)).body).toEqual(before)
  })
})

describe('removing', () => {
  test('closes the robot’s connection and rejects new ones', async () => {
    const owner = await world.client()
    const robot = await world.robot(owner)
    const link = (await world.connect(robot)).beat()

    const reply = await owner.delete(`${ROBOTS}/${robot.id}`)
    expect(reply.status).toBe(204)
    expect(reply.body).toBeUndefined()
    expect(await link.closed).toBe(4401)
    const again = new TestRobot(`${world.gatewayUrl}/robots/${robot.id}/control`, robot.token)
    expect(await again.closed).toBe(4401)

    const path = `${ROBOTS}/${robot.id}`
    for (const missing of [
      await owner.get(path),
      await owner.patch(path, { name: 'x' }),
      await owner.delete(path),
      await owner.post(`${path}/token`),
    ]) {
      expect(missing).toMatchObject({ status: 404, body: { error: 'Robot not found' } })
    }
  })

  test('is rejected during an open session of the robot, and succeeds after it', async () => {
    const [owner, operator] = [await world.client(), await world.operator()]
    const robot = await world.robot(owner)
    const link = (await world.connect(robot)).beat()
    const { sessionId } = (await operator.post('/api/sessions', { robotId: robot.id })).body

    const refused = await owner.delete(`${ROBOTS}/${robot.id}`)
    expect(refused.status).toBe(409)
    expect(Object.keys(refused.body)).toEqual(['error'])
    await operator.patch(`/api/sessions/${sessionId}`, { action: 'pause' })
    expect((await owner.delete(`${ROBOTS}/${robot.id}`)).status).toBe(409)
    expect((await owner.get(`${ROBOTS}/${robot.id}`)).body.status).toBe('IN_SESSION')

    await operator.patch(`/api/sessions/${sessionId}`, { action: 'end' })
    expect((await owner.delete(`${ROBOTS}/${robot.id}`)).status).toBe(204)
    expect(await link.closed).toBe(4401)
    for (const user of [owner, operator]) {
      const past = await user.get(`/api/sessions/${sessionId}`)
      expect(past.body).toMatchObject({ robot_id: robot.id, robot_name: expect.stringContaining('Robot') })
    }
  })

  test('cancels scheduled sessions on the robot and notifies the operator', async () => {
    const [owner, operator] = [await world.client(), await world.operator()]
    const robot = await world.robot(owner)
    const link = (await world.connect(robot)).beat()
    const scheduledFor = new Date(clockMs + 3_600_000).toISOString()
    const scheduled = await operator.post('/api/sessions', { robotId: robot.id, scheduledFor })
    expect(scheduled).toMatchObject({ status: 201, body: { status: 'PENDING' } })

    await owner.delete(`${ROBOTS}/${robot.id}`)
    await link.closed
    const { body } = await operator.get(`/api/sessions/${scheduled.body.sessionId}`)
    expect(body).toMatchObject({ status: 'CANCELLED', end_reason: 'robot_removed', started_at: null })
    const notified = (await operator.get('/api/notifications')).body.notifications
    expect(notified).toMatchObject([
      { type: 'session.cancelled', data: { session_id: body.id, reason: 'robot_removed' } },
    ])
  })
})

describe('a new token', () => {
  test('closes the old connection, admits the robot, and invalidates the old token', async () => {
    const owner = await world.client()
    const robot = await world.robot(owner)
    const old = (await world.connect(robot)).beat()

    const rotated = await owner.post(`${ROBOTS}/${robot.id}/token`)
    expect(rotated.status).toBe(201)
    expect(Object.keys(rotated.body)).toEqual(['robot_token'])
    expect(rotated.body.robot_token).not.toBe(robot.token)
    expect(await old.closed).toBe(4401)

    const link = (await world.connect({ id: robot.id, token: rotated.body.robot_token })).beat()
    const intruder = new TestRobot(`${world.gatewayUrl}/robots/${robot.id}/control`, robot.token)
    expect(await intruder.closed).toBe(4401)
    expect((await owner.get(`${ROBOTS}/${robot.id}`)).body.status).toBe('AVAILABLE')
    await link.close()
  })
})

test('a robot of another owner is indistinguishable from one that does not exist', async () => {
  const [owner, other] = [await world.client(), await world.client()]
  const robot = await world.robot(owner)
  const ask = async (method: string, id: string, tail: string, body?: string) => {
    const response = await fetch(`${world.baseUrl}${ROBOTS}/${id}${tail}`, {
      method,
      headers: { Authorization: `Bearer ${other.token}`, 'Content-Type': 'application/json' },
      ...(body && { body }),
    })
    const headers = [...response.headers].filter(
      ([name]) => !['x-request-id', 'date', 'ratelimit'].includes(name),
    )
    return { status: response.status, headers, text: await response.text() }
  }
  for (const request of [
    ['GET', ''],
    ['PATCH', '', '{"name":"Mine now"}'],
    ['DELETE', ''],
    ['POST', '/token'],
  ] as const) {
    const [method, tail, body] = request
    const foreign = await ask(method, robot.id, tail, body)
    expect(foreign.status, method + tail).toBe(404)
    expect(foreign).toEqual(await ask(method, UNKNOWN_ID, tail, body))
  }
  expect((await owner.get(`${ROBOTS}/${robot.id}`)).body.name).not.toBe('Mine now')
})

test('an id that is not a UUID returns 400 with the field name', async () => {
  const owner = await world.client()
  for (const id of ['1', 'x'.repeat(200), '%00', '%ff', "';--"]) {
    const reply = await owner.get(`${ROBOTS}/${id}`)
    expect(reply, id).toMatchObject({ status: 400, body: { error: expect.stringContaining('id') } })
  }
})
