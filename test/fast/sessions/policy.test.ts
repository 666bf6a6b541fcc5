import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { ApiKeyScope, OrganizationRole } from '@wheelhouse/protocol'
import { PolicyLink, type PolicyLinkOptions } from '@wheelhouse/sdk'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PYTHONPATH } from '../../support/examples/example-robots.ts'
import { python } from '../../support/programs/external-programs.ts'
import { download, readMcap, withRecorder } from '../../support/recordings/recording-fixture.ts'
import { addMember, createTeam, teamRobot } from '../../support/world/organizations.ts'
import { performAction, start, tolerateLatency } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
let owner: TestUser
let teamId: string
beforeAll(async () => {
  world = await createWorld({
    env: { ...withRecorder, OPERATOR_GRACE_MS: '1000', DEADMAN_MS: '500', HEARTBEAT_TIMEOUT_MS: '30000' },
  })
  const founder = await world.client()
  teamId = await createTeam(founder)
  owner = await founder.actingFor(teamId)
})
afterAll(async () => await world[Symbol.asyncDispose]())

const member = async (role: OrganizationRole) => {
  const user = await world.newUser()
  await addMember(world, teamId, user, role)
  return await user.actingFor(teamId)
}

/** A service account of the team that may drive, with a key. */
async function program(scopes: ApiKeyScope[] = ['read', 'drive']) {
  const accounts = `/api/organizations/${teamId}/service-accounts`
  const account = await owner.post(accounts, { name: 'Stacking policy', role: 'operator' })
  expect(account.status, JSON.stringify(account.body)).toBe(201)
  const keys = `${accounts}/${account.body.id}/keys`
  const { key, id: keyId } = (await owner.post(keys, { scopes, expiresInDays: 30 })).body
  return { id: account.body.id as string, key: key as string, revoke: () => owner.delete(`${keys}/${keyId}`) }
}
type Program = Awaited<ReturnType<typeof program>>

/** A connected robot of the team. */
async function connectedRobot(settings: Record<string, unknown> = {}) {
  const robot = await teamRobot(owner)
  if (Object.keys(settings).length > 0) await owner.patch(`/api/client/robots/${robot.id}`, settings)
  await tolerateLatency(world, robot.id)
  return { robot, link: (await world.connect(robot)).beat() }
}

/** A session of a member, who is connected. */
async function teamSession(settings: Record<string, unknown> = {}) {
  const operator = await member('operator')
  const { robot, link } = await connectedRobot(settings)
  const id = await start(operator, robot.id)
  await link.next('session')
  const console = await world.drive(operator, id)
  await console.state()
  const control = `/api/sessions/${id}/control`
  const act = (user: TestUser, action: string, rest: object = {}) => user.post(control, { action, ...rest })
  const holder = async () => {
    const { epoch, holder: who } = (await owner.get(control)).body
    return [epoch, who?.kind ?? null, who?.user_id ?? null]
  }
  return { id, operator, link, console, control, act, holder }
}

/** Reads the recording of a session that has ended, when it is finished. */
async function finishedRecording(sessionId: string) {
  const { file_url: path } = await waitFor(async () => {
    const { body } = await owner.get(`/api/sessions/${sessionId}/recording`)
    expect(body.status).toBe('READY')
    return body
  })
  return await readMcap((await download(world, owner, path, { 'Wheelhouse-Organization': teamId })).bytes)
}

/** Connects a policy to a session, until the end of the test. */
async function connectPolicy({ key }: Program, sessionId: string, options: Partial<PolicyLinkOptions> = {}) {
  const events: (readonly [string, number, unknown?])[] = []
  const policy = new PolicyLink({
    baseUrl: world.baseUrl,
    token: key,
    sessionId,
    offerPollMs: 50,
    onHold: ({ epoch, last }) => events.push(['hold', epoch, last]),
    onYield: ({ epoch }) => events.push(['yield', epoch]),
    ...options,
  })
  await policy.connect()
  return { policy, events, [Symbol.asyncDispose]: () => policy.close() }
}

test('a policy drives, a supervisor takes over and returns, and the recording has both', async () => {
  const { id, operator, link, act } = await teamSession({ recording: 'control' })
  const robotPolicy = await program()
  await using connected = await connectPolicy(robotPolicy, id, { shadow: true })
  const { policy, events } = connected
  expect(policy.holds).toBe(false)
  const [request] = (await policy.requestControl('Ready')).requests
  expect(request).toMatchObject({ from: robotPolicy.id, from_name: 'Stacking policy', reason: 'Ready' })
  expect(await act(operator, 'accept', { requestId: request?.id })).toMatchObject({
    status: 200,
    body: { epoch: 2, holder: { kind: 'policy', user_id: robotPolicy.id } },
  })
  await waitFor(() => expect(policy.holds).toBe(true))
  expect(await link.next('lease')).toMatchObject({ epoch: 2, holder: { kind: 'policy' } })
  policy.control({ linear: 0.4 })
  expect(await link.next('control')).toMatchObject({ epoch: 2, data: { linear: 0.4 } })

  const supervisor = await member('supervisor')
  const wall = await world.drive(supervisor, id)
  await wall.state()
  expect(await act(supervisor, 'take_over')).toMatchObject({ status: 200, body: { epoch: 3 } })
  expect(await link.next('stop')).toMatchObject({ reason: 'control_transferred' })
  await waitFor(() => expect(policy.holds).toBe(false))
  expect(policy.control({ linear: 0.45 })).not.toBeNull()
  wall.control({ linear: 0.2 })
  expect(await link.next('control')).toMatchObject({ epoch: 3, data: { linear: 0.2 } })

  expect(await act(supervisor, 'return')).toMatchObject({ status: 200, body: { holder: { kind: 'policy' } } })
  await waitFor(() => expect(policy.holds).toBe(true))
  policy.control({ linear: 0.3 })
  expect(await link.next('control')).toMatchObject({ epoch: 4, data: { linear: 0.3 } })
  expect(events).toEqual([
    ['hold', 2, undefined],
    ['yield', 3],
    ['hold', 4, { command: { linear: 0.2 } }],
  ])

  const episodes = `/api/sessions/${id}/episodes`
  const kept = await supervisor.post(episodes, { action: 'keep', seconds: 120, task: 'Stack' })
  expect(kept).toMatchObject({
    status: 200,
    body: { running: null, episode: { task: 'Stack', success: null } },
  })
  const { started_at: from, ended_at: to } = kept.body.episode
  const { started_at: begin } = (await owner.get(`/api/sessions/${id}`)).body
  expect(Date.parse(from)).toBeGreaterThanOrEqual(Date.parse(begin))
  expect(Date.parse(to)).toBeGreaterThan(Date.parse(from))

  await performAction(owner, id, 'end')
  const mcap = await finishedRecording(id)
  expect(mcap.of('/control').map(({ json }) => [json?.epoch, json?.data])).toEqual([
    [2, { linear: 0.4 }],
    [3, { linear: 0.2 }],
    [4, { linear: 0.3 }],
  ])
  expect(mcap.of('/control/dropped').map(({ json }) => json)).toMatchObject([
    { why: 'not_holder', policy_id: robotPolicy.id, epoch: 3, data: { linear: 0.45 } },
  ])
  const changes = mcap.of('/events').filter(({ json }) => json?.type === 'control.transferred')
  expect(changes.map(({ json }) => json?.data)).toMatchObject([
    { epoch: 2, reason: 'granted', from: { kind: 'operator' }, to: { kind: 'policy' } },
    { epoch: 3, reason: 'taken_over', from: { kind: 'policy' }, to: { kind: 'supervisor' } },
    { epoch: 4, reason: 'returned', from: { kind: 'supervisor' }, to: { kind: 'policy' } },
  ])
})

test('an operator takes over from a policy too, which gets no control because a person is gone', async () => {
  const { id, operator, console, link, act, holder } = await teamSession()
  const robotPolicy = await program()
  await using connected = await connectPolicy(robotPolicy, id)
  const { policy } = connected
  await act(operator, 'offer', { to: robotPolicy.id })
  await waitFor(() => expect(policy.holds).toBe(true)) // it has found the offer
  const second = await member('operator')
  const other = await world.drive(second, id)
  await other.state()
  expect(await act(second, 'take_over')).toMatchObject({ status: 200, body: { epoch: 3 } })
  await waitFor(() => expect(policy.holds).toBe(false))
  expect(policy.control({ linear: 1 })).toBeNull()
  await waitFor(() => {
    other.control({ linear: 0.1 })
    expect(link.frames).toContainEqual(expect.objectContaining({ type: 'control', epoch: 3 }))
  })
  console.destroy()
  other.destroy()
  await waitFor(async () => expect(await holder()).toEqual([4, null, null]))
  expect(policy.connection).toBe('online')
  expect(policy.holds).toBe(false)

  const keep = await owner.post(`/api/sessions/${id}/episodes`, { action: 'keep' })
  expect([keep.status, keep.headers.get('Wheelhouse-Error')]).toEqual([409, 'session_not_recorded'])
})

test('examples/python/policy.py drives, yields to a person, and continues at the speed of the person', async () => {
  const { id, operator, link, control, act } = await teamSession()
  const { key } = await program()
  const script = fileURLToPath(new URL('../../../examples/python/policy.py', import.meta.url))
  const child = spawn(await python(['websockets']), ['-B', script, id], {
    env: { ...process.env, PYTHONPATH, WHEELHOUSE_URL: world.baseUrl, WHEELHOUSE_API_KEY: key },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk
    })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  try {
    const request = await waitFor(async () => {
      const [found] = (await operator.get(control)).body.requests
      expect(found, output).toMatchObject({ reason: 'I am ready to drive' })
      return found
    })
    const commandsOf = (epoch: number) =>
      link.frames.filter((frame) => frame.type === 'control' && frame.epoch === epoch)
    await act(operator, 'accept', { requestId: request.id })
    await waitFor(() => expect(commandsOf(2).length, output).toBeGreaterThan(2))

    const supervisor = await member('supervisor')
    const wall = await world.drive(supervisor, id)
    await wall.state()
    expect(await act(supervisor, 'take_over')).toMatchObject({ status: 200 })
    await waitFor(() => {
      wall.control({ linear_mps: 0.1, angular_radps: 0 })
      expect(commandsOf(3).length).toBeGreaterThan(0)
    })
    await act(supervisor, 'return')
    await waitFor(() => expect(commandsOf(4).length, output).toBeGreaterThan(0))
    // The first commands may have been too late for the gateway, on a busy machine all that accelerate.
    const data = commandsOf(4)[0]?.data as { linear_mps: number } | undefined
    expect(data?.linear_mps).toBeGreaterThan(0.1)
    await performAction(owner, id, 'end')
    expect(await ended, output).toBe(0)
  } finally {
    child.kill()
    await ended
  }
  expect(output.split('\n')).toContain('I drive on from 0.1 m/s')
})

test('a key without the scope drive is refused', async () => {
  const { id, control } = await teamSession()
  const reader = await program(['read'])
  await expect(connectPolicy(reader, id)).rejects.toThrow('drive')
  const reply = await owner.request('POST', control, { action: 'request' }, reader.key)
  expect([reply.status, reply.headers.get('Wheelhouse-Error')]).toEqual([403, 'scope_required'])
})

test('a revoked key halts the robot at once, and control passes on after the grace', async () => {
  const { id, operator, link, act, holder } = await teamSession()
  const robotPolicy = await program()
  await using connected = await connectPolicy(robotPolicy, id)
  const { policy } = connected
  const [request] = (await policy.requestControl()).requests
  await act(operator, 'accept', { requestId: request?.id })
  await waitFor(() => {
    policy.control({ linear: 0.4 })
    expect(link.frames).toContainEqual(expect.objectContaining({ type: 'control', epoch: 2 }))
  })
  policy.control({ linear: 0.4 })
  await robotPolicy.revoke()
  await waitFor(() =>
    expect(link.frames).toContainEqual(expect.objectContaining({ type: 'stop', reason: 'operator_lost' })),
  )
  await waitFor(async () => expect(await holder()).toEqual([3, 'operator', operator.id]))
  await waitFor(() => expect(policy.connection).toBe('closed'))
})

test('a program that starts a session holds control as a policy', async () => {
  const { robot, link } = await connectedRobot({ recording: 'control' })
  const { id: programId, key } = await program()
  const started = await owner.request('POST', '/api/sessions', { robotId: robot.id }, key)
  expect(started.status, JSON.stringify(started.body)).toBe(201)
  const id = started.body.sessionId
  await using connected = await connectPolicy({ key } as Program, id)
  const { policy } = connected
  expect(policy.holds).toBe(true)
  policy.control({ linear: 0.1 })
  expect(await link.next('control')).not.toHaveProperty('epoch')
  const control = `/api/sessions/${id}/control`
  expect((await owner.get(control)).body).toMatchObject({
    epoch: 1,
    holder: { kind: 'policy', user_id: programId },
  })
  const operator = await member('operator')
  expect(await operator.post(control, { action: 'take_over' })).toMatchObject({ status: 200 })
  await waitFor(() => expect(policy.holds).toBe(false))
  expect(await operator.post(control, { action: 'return' })).toMatchObject({
    body: { holder: { kind: 'policy', user_id: programId } },
  })
  await performAction(owner, id, 'end')
  expect((await finishedRecording(id)).metadata.session).toMatchObject({ operator_kind: 'policy' })
})
