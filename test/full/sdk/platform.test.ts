import type { SessionLogEvent } from '@wheelhouse/protocol'
import { describe, expect, test } from 'vitest'
import {
  HubClient,
  HubError,
  RobotLink,
  type RobotLinkEnd,
  type RobotsUpdate,
} from '../../../packages/sdk/index.ts'
import { freePort } from '../../../src/core/database/embedded-postmaster.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const quick = { baseMs: 5, maxMs: 50 }
const soon = (check: () => unknown) => waitFor(check)

/** Connects a robot with the SDK that records its callbacks. */
function sdkRobot(world: World, robot: { id: string; token: string }, gatewayUrl = world.gatewayUrl) {
  const received: string[] = []
  const ends: RobotLinkEnd[] = []
  const errors: unknown[] = []
  const link = new RobotLink({
    url: `${gatewayUrl}/robots/${robot.id}/control`,
    token: robot.token,
    reconnect: quick,
    heartbeat: () => ({ battery: 0.5 }),
    onSession: (session) => received.push(session?.status ?? 'none'),
    onStop: ({ reason }) => {
      received.push(`stop ${reason}`)
      link.stopped(reason)
    },
    onConnection: (state) => received.push(state),
    onError: (cause) => errors.push(cause),
    onClosed: (end) => ends.push(end),
  })
  return { link, received, ends, errors }
}

function sdkClient(url: string, token: string | (() => Promise<string>)) {
  const errors: unknown[] = []
  const client = new HubClient({ url, token, reconnect: quick, onError: (cause) => errors.push(cause) })
  return Object.assign(client, { errors, [Symbol.dispose]: () => client.close() })
}

/** Tracks the statuses of robots. */
function statuses() {
  const known = new Map<string, string>()
  const lists: number[] = []
  const take = (update: RobotsUpdate) => {
    if (update.kind === 'list') {
      known.clear()
      lists.push(update.robots.length)
      for (const { robot_id, status } of update.robots) known.set(robot_id, status)
    } else known.set(update.robot.robot_id, update.robot.status)
  }
  return { known, lists, take }
}

const start = async (operator: TestUser, robotId: string): Promise<string> => {
  const started = await operator.post('/api/sessions', { robotId })
  expect(started.status, JSON.stringify(started.body)).toBe(201)
  return started.body.sessionId
}

describe.each(['memory', 'redis'] as const)('the SDK on the %s bus', (bus) => {
  test('a robot, an operator and an owner complete a session together', async () => {
    await using world = await createWorld({ bus })
    const [owner, operator] = [await world.client(), await world.operator()]
    const robot = await world.robot(owner)
    const { link, received, errors } = sdkRobot(world, robot)
    using observer = sdkClient(world.hubUrl, owner.token)
    using pilot = sdkClient(world.hubUrl, async () => operator.token)
    await Promise.all([observer.connect(), pilot.connect()])
    const board = statuses()
    await observer.watchRobots(board.take)
    expect([...board.known]).toEqual([[robot.id, 'OFFLINE']])
    const notified: string[] = []
    await observer.onNotification(({ id, type }) => notified.push(`${id} ${type}`))

    const welcome = await link.connect()
    expect(welcome).toMatchObject({ robot_id: robot.id, session: null, stop: null })
    await soon(() => expect(board.known.get(robot.id)).toBe('AVAILABLE'))
    await soon(async () => {
      const [listed] = (await owner.get('/api/client/robots')).body
      expect(listed.last_heartbeat).not.toBeNull()
    })

    const id = await start(operator, robot.id)
    await soon(() => expect(link.session).toMatchObject({ session_id: id, status: 'ACTIVE' }))
    const [log, typing]: [SessionLogEvent[], string[]] = [[], []]
    await observer.watch(id, {
      onEvent: (event) => log.push(event),
      onTyping: ({ display_name }) => typing.push(display_name),
    })
    expect(log).toMatchObject([{ seq: 1, type: 'session.started' }])
    pilot.typing(id)
    await soon(() => expect(typing).toEqual([operator.name]))
    const message = await pilot.sendChat(id, 'On my way', 'mine')
    expect(message).toMatchObject({ seq: 2, sender_role: 'operator' })
    expect(await pilot.sendChat(id, 'On my way', 'mine'), 'the same again').toEqual(message)
    expect(await observer.sendChat(id, 'Mind the step')).toMatchObject({ seq: 3, sender_role: 'client' })
    expect(await pilot.action(id, 'pause', 'breather')).toMatchObject({ id, status: 'PAUSED' })
    await soon(() => expect(received).toContain('stop session_paused'))
    await expect(observer.action(id, 'resume')).rejects.toMatchObject({ name: 'HubError', status: 403 })
    await expect(pilot.action(id, 'pause')).rejects.toMatchObject({ status: 409 })
    await expect(pilot.sendChat(id, ' ')).rejects.toBeInstanceOf(HubError)
    expect(await pilot.action(id, 'resume')).toMatchObject({ status: 'ACTIVE' })
    expect(await pilot.action(id, 'end')).toMatchObject({ status: 'COMPLETED' })

    await soon(() => expect(log.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6]))
    expect(log).toEqual((await owner.get(`/api/sessions/${id}/events`)).body.events)
    await soon(() => expect(link.session).toBeNull())
    await soon(() => expect(board.known.get(robot.id)).toBe('AVAILABLE'))
    await soon(() =>
      expect(notified).toEqual([
        '1 session.started',
        '2 session.paused',
        '3 session.resumed',
        '4 session.ended',
      ]),
    )
    await link.close()
    await soon(() => expect(board.known.get(robot.id)).toBe('OFFLINE'))
    expect(received).toEqual([
      'connecting',
      'online',
      'none',
      'ACTIVE',
      'PAUSED',
      'stop session_paused',
      'ACTIVE',
      'COMPLETED',
      'stop session_over',
      'offline',
    ])
    expect([...errors, ...observer.errors, ...pilot.errors]).toEqual([])
  })

  test('a watch that the hub refuses ends with the reason', async () => {
    await using world = await createWorld({ bus })
    const [owner, unrelatedUser] = [await world.client(), await world.client()]
    const robot = await world.robot(owner)
    const link = (await world.connect(robot)).beat()
    const id = await start(await world.operator(), robot.id)
    using client = sdkClient(world.hubUrl, unrelatedUser.token)
    await client.connect()
    await expect(client.watch(id, { onEvent: () => {} })).rejects.toMatchObject({ status: 404 })
    await expect(client.sendChat(id, 'let me in')).rejects.toMatchObject({ status: 404 })
    using anonymous = sdkClient(world.hubUrl, 'not a token')
    await expect(anonymous.connect()).rejects.toMatchObject({ name: 'HubClosedError' })
    await link.close()
  })

  test('a robot that is replaced, or whose token was rotated, gives up with the reason', async () => {
    await using world = await createWorld({ bus })
    const owner = await world.client()
    const robot = await world.robot(owner)
    const first = sdkRobot(world, robot)
    const second = sdkRobot(world, robot)
    await first.link.connect()
    await second.link.connect()
    await soon(() => expect(first.ends).toMatchObject([{ closeCode: 4000 }]))
    expect(second.link.epoch).toBeGreaterThan(first.link.epoch as number)
    const rotated = await owner.post(`/api/client/robots/${robot.id}/token`)
    expect(rotated.status).toBeLessThan(300)
    await soon(() => expect(second.ends).toMatchObject([{ closeCode: 4401 }]))
    const third = sdkRobot(world, { ...robot, token: 'not.a.token' })
    await expect(third.link.connect()).rejects.toThrow(/401/)
    const fourth = sdkRobot(world, { ...robot, token: rotated.body.robot_token })
    await fourth.link.connect()
    await fourth.link.close()
  })
})

describe('the SDK when parts of the platform restart', () => {
  test('a robot reconnects late to a restarted gateway and continues its session', async () => {
    const env = { ROLES: 'api,hub,worker', OPERATOR_GRACE_MS: '0' } // handed over for no longer than it takes to notice
    await using world = await createWorld({ bus: 'redis', env })
    const GATEWAY_PORT = String(await freePort())
    const gateway = await world.addNode('gateway', { GATEWAY_PORT })
    const [owner, operator] = [await world.client(), await world.operator()]
    const robot = await world.robot(owner)
    const { link, received, ends } = sdkRobot(world, robot, gateway.gatewayUrl)
    const epoch = (await link.connect()).epoch
    const id = await start(operator, robot.id)
    await soon(() => expect(link.session?.session_id).toBe(id))
    await gateway.stop()
    await soon(() => expect(link.state).not.toBe('online'))
    await soon(async () => {
      expect((await owner.get(`/api/sessions/${id}`)).body).toMatchObject({ pause_reason: 'robot_lost' })
    })

    await world.addNode('gateway', { GATEWAY_PORT })
    await soon(() => expect(link.state).toBe('online'))
    expect(link.epoch).toBeGreaterThan(epoch)
    await soon(() => expect(link.session).toMatchObject({ session_id: id, status: 'PAUSED' }))
    await soon(async () => {
      const { events } = (await owner.get(`/api/sessions/${id}/events`)).body
      expect(events.map(({ type }: SessionLogEvent) => type)).toEqual([
        'session.started',
        'robot.lost',
        'robot.back',
      ])
    })
    expect((await operator.patch(`/api/sessions/${id}`, { action: 'resume' })).status).toBe(200)
    await soon(() => expect(link.session).toMatchObject({ status: 'ACTIVE' }))
    expect(ends).toEqual([])
    expect(received.filter((item) => item === 'online')).toHaveLength(2)
    await link.close()
  })

  test('a client reconnects to a restarted hub: watches, chat, robots and notifications continue', async () => {
    await using world = await createWorld({ bus: 'redis', env: { ROLES: 'api,gateway,worker' } })
    const HUB_PORT = String(await freePort())
    const hub = await world.addNode('hub', { HUB_PORT })
    const [owner, operator] = [await world.client(), await world.operator()]
    const robot = await world.robot(owner)
    const link = (await world.connect(robot)).beat()
    const id = await start(operator, robot.id)
    using client = sdkClient(hub.hubUrl, owner.token)
    await client.connect()
    const [log, notified]: [SessionLogEvent[], string[]] = [[], []]
    const board = statuses()
    await client.watch(id, { onEvent: (event) => log.push(event) })
    await client.onNotification(({ id: number }) => notified.push(number))
    await client.watchRobots(board.take)

    await hub.stop()
    await soon(() => expect(client.connected).toBe(false))
    await expect(client.action(id, 'pause')).rejects.toMatchObject({ name: 'NotConnectedError' })
    const sending = [client.sendChat(id, 'said while away'), client.sendChat(id, 'and this')]
    expect((await operator.patch(`/api/sessions/${id}`, { action: 'pause' })).status).toBe(200)
    expect((await operator.patch(`/api/sessions/${id}`, { action: 'end' })).status).toBe(200)
    link.destroy()
    await soon(async () => {
      expect((await owner.get('/api/client/robots')).body).toMatchObject([{ status: 'OFFLINE' }])
    })

    await world.addNode('hub', { HUB_PORT })
    const sent = await Promise.all(sending)
    expect(sent.map(({ seq, body }) => `${seq} ${body}`)).toEqual(['4 said while away', '5 and this'])
    await soon(() => expect(log.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]))
    expect(log).toEqual((await owner.get(`/api/sessions/${id}/events`)).body.events)
    await soon(() => expect(notified).toEqual(['1', '2', '3']))
    await soon(() => expect(board.known.get(robot.id)).toBe('OFFLINE'))
    expect(board.lists.length, 'a fresh list after coming back').toBeGreaterThan(1)
  })
})
