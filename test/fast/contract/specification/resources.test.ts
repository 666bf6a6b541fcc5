import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSpecificationFixture, ok, type Scenario } from './fixtures.ts'

/** One test for each row of the specification's tables of fields; each reads the field over HTTP. */

let scenario: Scenario
beforeAll(async () => {
  scenario = await createSpecificationFixture()
})
afterAll(() => scenario.world[Symbol.asyncDispose]())

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/
const timestamp = expect.stringMatching(ISO)
const text = expect.stringMatching(/./)
type Field = readonly [name: string, notes: string, expected: unknown]

/** Returns a matcher for integers within limits. */
const integer = (minimum = 0, maximum = Number.MAX_SAFE_INTEGER) =>
  expect.toSatisfy(
    (value: unknown) => Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum,
  )

describe('Robot', () => {
  const connected: readonly Field[] = [
    ['id', 'robot identifier', text],
    ['name', 'string', text],
    ['robot_type', 'model or type label', 'testbot'],
    ['status', 'IN_SESSION while it is driven', 'IN_SESSION'],
    ['control_url', 'a WebSocket URL', expect.stringMatching(/^wss?:\/\/.+\/robots\/[^/]+\/control$/)],
    ['stream_url', 'video URL', expect.any(String)],
    ['hardware_id', 'of the motor board', text],
    ['last_online', 'ISO 8601 once it has connected', timestamp],
    ['last_heartbeat', 'ISO 8601 once it has connected', timestamp],
    ['total_hours', 'number', expect.any(Number)],
    ['tags', 'array of strings', []],
    ['notes', 'string or null', null],
    ['created_at', 'ISO 8601', timestamp],
  ]
  const find = async (id: string) => {
    const { body } = await ok(scenario.owner.get('/api/client/robots'))
    return body.find((robot: { id: string }) => robot.id === id)
  }

  test.each(connected)('Robot.%s: %s', async (name, _notes, expected) => {
    expect((await find(scenario.robot.id))[name]).toEqual(expected)
  })

  test('Robot has these fields and no others', async () => {
    expect(Object.keys(await find(scenario.robot.id)).sort()).toEqual(connected.map(([name]) => name).sort())
  })

  test('Robot.status: AVAILABLE when it can be driven', async () => {
    const { id } = await scenario.availableRobot()
    expect((await find(id)).status).toBe('AVAILABLE')
  })

  test.each(['last_online', 'last_heartbeat'])(
    'Robot.%s: null until the robot has connected once',
    async (name) => {
      expect((await find(scenario.newRobot.id))[name]).toBeNull()
    },
  )

  test('Robot.tags and Robot.notes: the values of the request', async () => {
    const { id } = await scenario.world.robot(scenario.owner, {
      tags: ['arm', 'lab'],
      notes: 'Mind the cable',
    })
    expect(await find(id)).toMatchObject({ tags: ['arm', 'lab'], notes: 'Mind the cable' })
  })
})

describe('Session', () => {
  const shared: readonly Field[] = [
    ['id', 'string', text],
    ['status', 'one of the session states', 'COMPLETED'],
    ['started_at', 'ISO 8601', timestamp],
    ['ended_at', 'ISO 8601', timestamp],
    ['duration_minutes', 'integer', integer(0)],
    ['client_charge_cents', 'charge to the client in cents', integer(0)],
    ['rating', '1 to 5', 4],
    ['created_at', 'ISO 8601', timestamp],
    ['robot_id', 'string', text],
    ['robot_name', 'string', text],
    ['robot_type', 'string', 'testbot'],
    ['operator_name', 'string', text],
  ]
  const clientOnly: readonly Field[] = [
    ['episodes_collected', 'client view only', integer(0)],
    ['data_collected_mb', 'client view only, megabytes', expect.any(Number)],
  ]
  const operatorOnly: readonly Field[] = [
    ['operator_earnings_cents', 'operator view only, cents', integer(0)],
  ]

  const seenBy = async (who: 'owner' | 'operator') => {
    const { body } = await ok(scenario[who].get('/api/sessions?status=COMPLETED'))
    return body.sessions.find((session: { id: string }) => session.id === scenario.completedSessionId)
  }

  test.each(shared)('Session.%s: %s', async (name, _notes, expected) => {
    expect((await seenBy('owner'))[name]).toEqual(expected)
    expect((await seenBy('operator'))[name]).toEqual(expected)
  })
  test.each(clientOnly)('Session.%s: %s', async (name, _notes, expected) => {
    expect((await seenBy('owner'))[name]).toEqual(expected)
    expect(await seenBy('operator')).not.toHaveProperty(name)
  })
  test.each(operatorOnly)('Session.%s: %s', async (name, _notes, expected) => {
    expect((await seenBy('operator'))[name]).toEqual(expected)
    expect(await seenBy('owner')).not.toHaveProperty(name)
  })
  test('Session: the views differ only in the three view-specific fields', async () => {
    const names = (fields: readonly Field[]) => fields.map(([name]) => name)
    const fieldsOf = async (who: 'owner' | 'operator') => Object.keys(await seenBy(who)).sort()
    expect(await fieldsOf('owner')).toEqual([...names(shared), ...names(clientOnly)].sort())
    expect(await fieldsOf('operator')).toEqual([...names(shared), ...names(operatorOnly)].sort())
  })
})

describe('Contact message', () => {
  const message = {
    name: 'Ada Visitor',
    email: 'ada@example.org',
    category: 'General Inquiry',
    subject: 'Hello',
    message: 'Do you support wheeled robots?',
  }
  const send = (body: unknown) =>
    fetch(`${scenario.world.baseUrl}/api/contact`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })

  test.each(Object.keys(message))('Contact message.%s: required', async (name) => {
    const { [name as keyof typeof message]: _, ...rest } = message
    const response = await send(rest)
    expect(response.status).toBe(400)
    expect((await response.json()).error).toContain(name)
    expect((await send(message)).status).toBe(201)
  })
  test('Contact message.email: a valid address', async () => {
    const response = await send({ ...message, email: 'user at nowhere' })
    expect(response.status).toBe(400)
    expect((await response.json()).error).toContain('email')
  })
  test.each([
    'General Inquiry',
    'Bug Report',
    'Feature Request',
    'Sales & Pricing',
    'Partnership',
    'Career/Jobs',
    'Technical Support',
    'Billing & Payments',
    'Press & Media',
    'Other',
  ])('Contact message.category: %s is one', async (category) => {
    expect((await send({ ...message, category })).status).toBe(201)
  })
  test('Contact message.category: nothing else is', async () => {
    expect((await send({ ...message, category: 'Gossip' })).status).toBe(400)
  })
})

describe('Health result', () => {
  test.each<Field>([
    ['status', '`ok`', 'ok'],
    ['db', '`ok`', 'ok'],
    ['timestamp', 'ISO 8601', timestamp],
  ])('Health result.%s: %s', async (name, _notes, expected) => {
    const body = await (await fetch(`${scenario.world.baseUrl}/api/health`)).json()
    expect(body[name]).toEqual(expected)
  })
})
