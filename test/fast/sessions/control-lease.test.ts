import { randomUUID } from 'node:crypto'
import type { OrganizationRole } from '@wheelhouse/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectTo } from '../../support/database/sql.ts'
import { addMember, createTeam, teamRobot } from '../../support/world/organizations.ts'
import {
  openSessionFixture,
  performAction,
  start,
  tolerateLatency,
} from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const GRACE_MS = 1_000

let world: World
let founder: TestUser
let owner: TestUser
let teamId: string
beforeAll(async () => {
  world = await createWorld({
    env: { OPERATOR_GRACE_MS: String(GRACE_MS), DEADMAN_MS: '500', HEARTBEAT_TIMEOUT_MS: '30000' },
  })
  founder = await world.client()
  teamId = await createTeam(founder)
  owner = await founder.actingFor(teamId)
})
afterAll(async () => await world[Symbol.asyncDispose]())

const member = async (role: OrganizationRole) => {
  const user = await world.newUser()
  await addMember(world, teamId, user, role)
  return await user.actingFor(teamId)
}

/** A session of a member with a robot of the team, which is connected as the operator is. */
async function teamSession(settings: Record<string, unknown> = {}) {
  const operator = await member('operator')
  const robot = await teamRobot(owner)
  if (Object.keys(settings).length > 0) await owner.patch(`/api/client/robots/${robot.id}`, settings)
  await tolerateLatency(world, robot.id)
  const link = (await world.connect(robot)).beat()
  const id = await start(operator, robot.id)
  await link.next('session')
  const console = await world.drive(operator, id)
  await console.state()
  const control = `/api/sessions/${id}/control`
  return {
    id,
    operator,
    robot,
    link,
    console,
    control,
    act: (user: TestUser, action: string, rest: object = {}) => user.post(control, { action, ...rest }),
  }
}
const codeOf = (reply: { status: number; headers: Headers }) => [
  reply.status,
  reply.headers.get('Wheelhouse-Error'),
]
const holderOf = async (user: TestUser, control: string) => {
  const { epoch, holder } = (await user.get(control)).body
  return [epoch, holder?.kind ?? null, holder?.user_id ?? null]
}

test('the operator holds control, and nothing on the wire says so', async () => {
  const { operator, control, console, link } = await teamSession()
  expect((await operator.get(control)).body).toEqual({
    epoch: 1,
    holder: {
      participant_id: expect.any(String),
      kind: 'operator',
      user_id: operator.id,
      name: expect.any(String),
      since: expect.any(String),
    },
    requests: [],
  })
  const seq = console.control({ linear: 0.1 })
  expect(await link.next('control')).not.toHaveProperty('epoch')
  expect([...console.frames, ...link.frames].filter(({ type }) => type === 'lease')).toEqual([])
  expect(seq).toBeGreaterThanOrEqual(0)
})

test('a supervisor takes over and returns: the robot halts, obeys one of them, and everybody is told', async () => {
  const { operator, console, link, control, act, id } = await teamSession()
  const supervisor = await member('supervisor')
  const wall = await world.drive(supervisor, id)
  expect(await wall.next('lease')).toMatchObject({ epoch: 1, holder: { user_id: operator.id }, you: false })
  console.control({ linear: 0.4 })
  await link.next('control')
  wall.control({ linear: 0.9 })
  expect(await wall.next('dropped')).toMatchObject({ why: 'not_holder' })
  link.send({ type: 'telemetry', data: { x: 3 } })
  await wall.next('telemetry')

  const taken = await act(supervisor, 'take_over')
  expect(taken).toMatchObject({
    status: 200,
    body: { epoch: 2, holder: { kind: 'supervisor', user_id: supervisor.id } },
  })
  expect(await link.next('stop')).toEqual({ type: 'stop', reason: 'control_transferred', latched: false })
  expect(await link.next('lease')).toMatchObject({ epoch: 2, holder: { user_id: supervisor.id } })
  expect(await wall.next('lease')).toMatchObject({
    epoch: 2,
    you: true,
    last: { command: { linear: 0.4 }, telemetry: { x: 3 } },
  })
  expect(await console.next('lease')).toMatchObject({ epoch: 2, you: false })

  console.control({ linear: 1 })
  expect(await console.next('dropped')).toMatchObject({ why: 'not_holder' })
  wall.control({ linear: 0.2 })
  expect(await link.next('control')).toMatchObject({ epoch: 2, data: { linear: 0.2 } })

  expect(await act(supervisor, 'return')).toMatchObject({
    status: 200,
    body: { epoch: 3, holder: { user_id: operator.id } },
  })
  expect(await link.next('lease')).toMatchObject({ epoch: 3 })
  console.control({ linear: 0.3 })
  expect(await link.next('control')).toMatchObject({ epoch: 3, data: { linear: 0.3 } })
  expect(await holderOf(owner, control)).toEqual([3, 'operator', operator.id])

  const { events } = (await operator.get(`/api/sessions/${id}/events?limit=200`)).body
  expect(
    events
      .filter(({ type }: { type: string }) => type === 'control.transferred')
      .map((event: { data: object }) => event.data),
  ).toMatchObject([
    {
      epoch: 2,
      reason: 'taken_over',
      from: { user_id: operator.id },
      to: { user_id: supervisor.id },
      actor_id: supervisor.id,
    },
    { epoch: 3, reason: 'returned', from: { user_id: supervisor.id }, to: { user_id: operator.id } },
  ])
})

test('a takeover halts the robot before the database has found the caller, and a refused one lets the operator drive on', async () => {
  const { id, console, link, act } = await teamSession()
  const supervisor = await member('supervisor')
  const colleague = await member('operator')
  await supervisor.get(`/api/sessions/${id}`)
  await colleague.get(`/api/sessions/${id}`)
  console.control({ linear: 0.4 })
  await link.next('control')
  await using database = await connectTo(world.database.url)
  await database.query('begin')
  await database.query('lock table organization_members in access exclusive mode')
  const taken = act(supervisor, 'take_over')
  expect(await link.next('stop')).toEqual({ type: 'stop', reason: 'control_transferred', latched: false })
  const refused = act(colleague, 'take_over')
  await database.query("update users set suspended_at = now(), suspension_reason = 'test' where id = $1", [
    supervisor.id,
  ])
  await database.query('commit')
  expect([(await taken).status, (await refused).status]).toEqual([403, 403])
  await waitFor(async () => {
    console.control({ linear: 0.3 })
    expect(await link.next('control')).toMatchObject({ data: { linear: 0.3 } })
  })
})

describe('who may not change who controls the robot', () => {
  const actions = ['offer', 'request', 'accept', 'deny', 'take_over', 'return', 'revoke'] as const
  const refusals: Record<string, Partial<Record<(typeof actions)[number], number>>> = {
    owner: { offer: 403, return: 403 },
    admin: { offer: 403, return: 403 },
    supervisor: { offer: 403, return: 403 },
    operator: { offer: 403, take_over: 403, return: 403, revoke: 403 },
    viewer: { offer: 403, request: 403, accept: 403, deny: 403, take_over: 403, return: 403, revoke: 403 },
    billing: { offer: 403, request: 403, accept: 403, deny: 403, take_over: 403, return: 403, revoke: 403 },
  }
  let session: Awaited<ReturnType<typeof teamSession>>
  beforeAll(async () => {
    session = await teamSession()
  })
  afterAll(() => session.link.close())

  const bodyOf = (action: string) => ({
    action,
    ...((action === 'accept' || action === 'deny') && { requestId: randomUUID() }),
  })

  test.for(Object.entries(refusals))('a member who is %s', async ([role, refused]) => {
    const user = await member(role as OrganizationRole)
    const statuses: Record<string, number> = {}
    // Others are allowed, or concern an offer that is not open.
    for (const action of actions)
      if (refused[action] !== undefined)
        statuses[action] = (await user.post(session.control, bodyOf(action))).status
    expect(statuses).toEqual(refused)
  })

  test('the holder, who has it already', async () => {
    const { operator, control } = session
    for (const action of ['request', 'take_over'])
      expect(codeOf(await operator.post(control, { action }))).toEqual([409, 'control_held'])
    for (const action of ['accept', 'deny'])
      expect(codeOf(await operator.post(control, bodyOf(action)))).toEqual([409, 'control_request_closed'])
    expect(codeOf(await operator.post(control, { action: 'revoke' }))).toEqual([403, 'control_not_allowed'])
  })

  test('anybody else, and keys without the scope', async () => {
    const { control } = session
    const strangers = [await world.operator(), await world.client(), await founder.actingFor(founder.id)]
    for (const stranger of strangers)
      for (const action of actions) expect((await stranger.post(control, bodyOf(action))).status).toBe(404)
    const account = (
      await owner.post(`/api/organizations/${teamId}/service-accounts`, { name: 'Policy', role: 'operator' })
    ).body
    const keys = `/api/organizations/${teamId}/service-accounts/${account.id}/keys`
    const reader = (await owner.post(keys, { scopes: ['read', 'sessions'], expiresInDays: 1 })).body.key
    const policy = (await owner.post(keys, { scopes: ['read', 'drive'], expiresInDays: 1 })).body.key
    for (const action of actions)
      expect(codeOf(await owner.request('POST', control, bodyOf(action), reader))).toEqual([
        403,
        'scope_required',
      ])
    for (const action of ['offer', 'take_over', 'return', 'revoke'])
      expect(codeOf(await owner.request('POST', control, bodyOf(action), policy))).toEqual([
        403,
        'control_not_allowed',
      ])
  })
})

test('a stop wins: it stays latched while control changes hands', async () => {
  const { operator, console, link, act, id } = await teamSession()
  const supervisor = await member('supervisor')
  const wall = await world.drive(supervisor, id)
  await wall.state()
  console.send({ type: 'stop', reason: 'a cat' })
  expect(await link.next('stop')).toMatchObject({ reason: 'a cat', latched: true })
  expect(await act(supervisor, 'take_over')).toMatchObject({ status: 200 })
  expect(await link.next('lease')).toMatchObject({ epoch: 2 })
  wall.control({ linear: 1 })
  expect(await wall.next('dropped')).toMatchObject({ why: 'stopped' })
  await waitFor(async () =>
    expect((await operator.get(`/api/sessions/${id}`)).body).toMatchObject({
      status: 'PAUSED',
      control: { stop: { reason: 'a cat' } },
    }),
  )
})

describe('offers and requests', () => {
  test('pass control on when they are accepted, once, by whom they are for', async () => {
    const { operator, control, act, id } = await teamSession()
    const [second, third] = [await member('operator'), await member('operator')]
    await (await world.drive(second, id)).state()
    expect(codeOf(await act(second, 'take_over'))).toEqual([403, 'control_not_allowed'])
    expect(codeOf(await act(second, 'offer', { to: third.id }))).toEqual([403, 'control_not_allowed'])
    const offered = await act(operator, 'offer', { to: second.id, reason: 'My shift ends' })
    const [offer] = offered.body.requests
    expect(offer).toEqual({
      id: expect.any(String),
      kind: 'offer',
      from: operator.id,
      from_name: operator.name,
      to: second.id,
      reason: 'My shift ends',
      expires_at: expect.any(String),
    })
    const { events } = (await operator.get(`/api/sessions/${id}/events?limit=200`)).body
    const { from_name: _, ...logged } = offer
    expect(events.find(({ type }: { type: string }) => type === 'control.requested').data).toEqual({
      status: 'ACTIVE',
      actor_id: operator.id,
      ...logged,
    })
    expect(codeOf(await act(third, 'accept', { requestId: offer.id }))).toEqual([403, 'control_not_allowed'])
    expect(await act(second, 'accept', { requestId: offer.id })).toMatchObject({
      status: 200,
      body: { epoch: 2, requests: [] },
    })
    expect(codeOf(await act(second, 'accept', { requestId: offer.id }))).toEqual([
      409,
      'control_request_closed',
    ])

    const asked = await act(operator, 'request')
    const [request] = asked.body.requests
    expect(codeOf(await act(third, 'accept', { requestId: request.id }))).toEqual([
      403,
      'control_not_allowed',
    ])
    expect(await act(second, 'deny', { requestId: request.id })).toMatchObject({
      status: 200,
      body: { epoch: 2, requests: [] },
    })
    const again = (await act(operator, 'request')).body.requests[0]
    expect(await act(second, 'accept', { requestId: again.id })).toMatchObject({ status: 200 })
    expect(await holderOf(owner, control)).toEqual([3, 'operator', operator.id])
  })

  test('expire, and are withdrawn by their sender only', async () => {
    const { operator, act } = await teamSession()
    const second = await member('operator')
    const [request] = (await act(second, 'request')).body.requests
    expect(codeOf(await act(operator, 'revoke', { requestId: request.id }))).toEqual([
      403,
      'control_not_allowed',
    ])
    expect((await act(second, 'revoke', { requestId: request.id })).body.requests).toEqual([])
    const [late] = (await act(second, 'request')).body.requests
    await world.platform.core.db
      .updateTable('control_requests')
      .set({ expires_at: new Date(Date.now() - 1) })
      .where('id', '=', late.id)
      .execute()
    expect(codeOf(await act(operator, 'accept', { requestId: late.id }))).toEqual([
      409,
      'control_request_closed',
    ])
  })
})

describe('a holder that is lost', () => {
  test('passes control to the last person before who is connected', async () => {
    const { operator, console, link, act, control, id } = await teamSession()
    const supervisor = await member('supervisor')
    const wall = await world.drive(supervisor, id)
    await wall.state()
    console.control({})
    await link.next('control')
    await act(supervisor, 'take_over')
    await wall.next('lease')
    wall.destroy()
    await waitFor(async () => expect(await holderOf(owner, control)).toEqual([3, 'operator', operator.id]))
    await waitFor(() => {
      console.control({ linear: 0.5 })
      expect(link.frames).toContainEqual(expect.objectContaining({ type: 'control', epoch: 3 }))
    })
  })

  test('passes control on while the session is paused, too', async () => {
    const { operator, console, link, act, control, id } = await teamSession()
    const supervisor = await member('supervisor')
    const wall = await world.drive(supervisor, id)
    await wall.state()
    console.control({})
    await link.next('control')
    await act(supervisor, 'take_over')
    await wall.next('lease')
    await performAction(operator, id, 'pause')
    await wall.state(({ status }) => status === 'PAUSED')
    wall.destroy()
    await waitFor(async () => expect(await holderOf(owner, control)).toEqual([3, 'operator', operator.id]))
    await performAction(operator, id, 'resume')
    await waitFor(() => {
      console.control({ linear: 0.5 })
      expect(link.frames).toContainEqual(expect.objectContaining({ type: 'control', epoch: 3 }))
    })
  })

  test('leaves it to nobody if the robot is set so: the session is paused until somebody takes control', async () => {
    const { operator, console, link, act, control, id } = await teamSession({ control_loss: 'nobody' })
    const supervisor = await member('supervisor')
    const wall = await world.drive(supervisor, id)
    await wall.state()
    console.control({})
    await link.next('control')
    await act(supervisor, 'take_over')
    wall.destroy()
    await waitFor(async () => expect(await holderOf(owner, control)).toEqual([3, null, null]))
    expect((await operator.get(`/api/sessions/${id}`)).body).toMatchObject({
      status: 'PAUSED',
      pause_reason: 'control_vacant',
    })
    expect(codeOf(await operator.patch(`/api/sessions/${id}`, { action: 'resume' }))).toEqual([
      409,
      'control_vacant',
    ])
    // Whoever takes control resumes the session, not only its operator.
    const helper = await member('supervisor')
    const helping = await world.drive(helper, id)
    await helping.state()
    expect(codeOf(await helper.patch(`/api/sessions/${id}`, { action: 'resume' }))).toEqual([
      403,
      'action_not_allowed',
    ])
    expect(await act(helper, 'take_over')).toMatchObject({ status: 200, body: { epoch: 4 } })
    await performAction(helper, id, 'resume')
    await waitFor(() => {
      helping.control({ linear: 0.5 })
      expect(link.frames).toContainEqual(expect.objectContaining({ type: 'control', epoch: 4 }))
    })
  })
})

test('a robot that connects again learns who holds control', async () => {
  const { link, act, robot, id } = await teamSession()
  const supervisor = await member('supervisor')
  const wall = await world.drive(supervisor, id)
  await wall.state()
  await act(supervisor, 'take_over')
  await link.next('lease')
  const again = await world.connect(robot)
  expect(await again.next('lease')).toMatchObject({ epoch: 2, holder: { user_id: supervisor.id } })
})

test('of many who take over at once one gets control in each epoch', async () => {
  const { act, operator, id } = await teamSession()
  const supervisors = await Promise.all(Array.from({ length: 8 }, () => member('supervisor')))
  const replies = await Promise.all(supervisors.map((one) => act(one, 'take_over')))
  const winners = supervisors.filter((_, index) => replies[index]?.status === 200)
  expect(winners).toHaveLength(1)
  expect(replies.filter(({ status }) => status === 403)).toHaveLength(7)
  const { events } = (await operator.get(`/api/sessions/${id}/events?limit=200`)).body
  const taken = events.filter(({ data }: { data: { reason?: string } }) => data.reason === 'taken_over')
  expect(taken).toMatchObject([{ data: { epoch: 2, to: { user_id: winners[0]?.id } } }])
})

test('a supervisor controls no more robots than the organization allows', async () => {
  const supervisor = await member('supervisor')
  const sessions = [await teamSession(), await teamSession()]
  for (const { id } of sessions) await (await world.drive(supervisor, id)).state()
  expect(await owner.patch(`/api/organizations/${teamId}`, { robots_per_supervisor: 1 })).toMatchObject({
    status: 200,
  })
  expect(await sessions[0]?.act(supervisor, 'take_over')).toMatchObject({ status: 200 })
  const refused = await sessions[1]?.act(supervisor, 'take_over')
  expect(refused && codeOf(refused)).toEqual([409, 'supervisor_busy'])
  // What others give is not refused: who is lost, or gives control back, must find an heir.
  const { act, operator } = sessions[1] as Awaited<ReturnType<typeof teamSession>>
  const [asked] = (await act(supervisor, 'request')).body.requests
  expect(await act(operator, 'accept', { requestId: asked.id })).toMatchObject({
    status: 200,
    body: { holder: { user_id: supervisor.id } },
  })
  await owner.patch(`/api/organizations/${teamId}`, { robots_per_supervisor: 8 })
})

test('control of a marketplace session is for its operator, invited operators and the owner', async () => {
  const { client, operator, id, link } = await openSessionFixture(world)
  const control = `/api/sessions/${id}/control`
  const stranger = await world.operator()
  expect(await stranger.get(control)).toMatchObject({ status: 404 })
  expect(await stranger.post(control, { action: 'take_over' })).toMatchObject({ status: 404 })
  const [offer] = (await operator.post(control, { action: 'offer', to: stranger.id })).body.requests
  const console = await world.drive(stranger, id)
  await console.state()
  expect(await stranger.post(control, { action: 'accept', requestId: offer.id })).toMatchObject({
    status: 200,
    body: { epoch: 2, holder: { kind: 'operator', user_id: stranger.id } },
  })
  await waitFor(() => {
    console.control({ linear: 0.5 })
    expect(link.frames).toContainEqual(expect.objectContaining({ type: 'control', epoch: 2 }))
  })
  console.send({ type: 'stop', reason: 'stuck' })
  await waitFor(async () =>
    expect((await client.get(`/api/sessions/${id}`)).body.control.stop).toMatchObject({
      by_role: 'operator',
      clearable_by: 'anyone',
    }),
  )
  expect(await client.post(control, { action: 'take_over' })).toMatchObject({
    status: 200,
    body: { holder: { kind: 'owner' } },
  })
})

test('an operator of the marketplace accepts control of one robot only', async () => {
  const guest = await world.operator()
  const offers = []
  for (const { operator, id } of [await openSessionFixture(world), await openSessionFixture(world)]) {
    const control = `/api/sessions/${id}/control`
    const [offer] = (await operator.post(control, { action: 'offer', to: guest.id })).body.requests
    await (await world.drive(guest, id)).state()
    offers.push(() => guest.post(control, { action: 'accept', requestId: offer.id }))
  }
  const replies = await Promise.all(offers.map((accept) => accept()))
  expect(replies.map(codeOf).sort()).toEqual([
    [200, null],
    [409, 'control_ineligible'],
  ])
})
