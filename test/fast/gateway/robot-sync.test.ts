import type { WebSocket as GatewaySocket } from 'uWebSockets.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SocketData } from '../../../gateway/base/connection.ts'
import { createControlSessionRegistry } from '../../../gateway/control/control-session-registry.ts'
import { RobotConnection } from '../../../gateway/robots/robot-connection.ts'
import { createRobotSync } from '../../../gateway/robots/robot-sync.ts'
import { createMemoryBus } from '../../../src/core/events/bus.ts'
import { createLog } from '../../../src/core/log.ts'
import type { LinkState, OpenSession, PresenceStore } from '../../../src/modules/presence/presence.store.ts'
import { connectTo } from '../../support/database/sql.ts'
import { leaseOf } from '../../support/gateway/lease.ts'
import { plainGuard } from '../../support/gateway/plain-guard.ts'
import { createTcpProxy } from '../../support/network/tcp-proxy.ts'
import { serviceUrl } from '../../support/runner/service-url.ts'
import { openSessionFixture } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const id = '00000000-0000-4000-8000-000000000001'
const active = (activeSinceMs: number, sessionId = id): OpenSession => ({
  id: sessionId,
  status: 'ACTIVE',
  operatorId: id,
  operatorName: 'Grace',
  lease: leaseOf(id),
  stopReason: null,
  eventSeq: 1,
  driven: false,
  operatorGone: false,
  latencyLimitMs: 400,
  latencyBudgetMs: null,
  videoLimitMs: null,
  controlSchema: null,
  telemetrySchema: null,
  strictControl: false,
  recording: 'off',
  activeSinceMs,
  clientId: id,
  groupId: null,
  stopByRole: null,
  stopByOwner: false,
  stopClear: 'owner',
})
const paused = (stopReason: string | null = null): OpenSession => ({
  ...active(1),
  status: 'PAUSED',
  stopReason,
})

/** Creates a robot's connection that records what is sent: `session ACTIVE`, `stop smoke latched` … */
function recordingConnection() {
  const received: string[] = []
  const link = new RobotConnection('robot', 1, 1)
  const send = (text: string) => {
    const { type, status, reason, latched } = JSON.parse(text)
    received.push([type, status, reason, latched && 'latched'].filter(Boolean).join(' '))
    return 1
  }
  link.attach({ send } as unknown as GatewaySocket<SocketData>)
  return { link, received }
}

/** Returns the frames that a robot receives if its gateway reads these states in one lookup after another. */
function emittedStates(...states: (OpenSession | null)[]): string[] {
  const { link, received } = recordingConnection()
  const controlSessions = createControlSessionRegistry({
    nodeId: 'node',
    clockMs: () => 1,
  })
  for (const session of states) controlSessions.applyLookup(link, session)
  return received
}

describe('a robot whose gateway misses states', () => {
  test.each<[string, (OpenSession | null)[], string[]]>([
    [
      'receives a pause for a pause or a stop that ended before the next lookup',
      [active(1), active(2)],
      ['session ACTIVE', 'session PAUSED', 'stop session_paused', 'session ACTIVE'],
    ],
    ['receives nothing if nothing has changed', [active(1), active(1)], ['session ACTIVE']],
    [
      'receives one pause for any number of missed states',
      [active(1), active(9), active(9)],
      ['session ACTIVE', 'session PAUSED', 'stop session_paused', 'session ACTIVE'],
    ],
    [
      'receives only the resumption if it was paused before',
      [active(1), paused(), active(3)],
      ['session ACTIVE', 'session PAUSED', 'stop session_paused', 'session ACTIVE'],
    ],
    [
      'receives the end of a known stop, and the resumption',
      [active(1), paused('smoke'), active(3)],
      ['session ACTIVE', 'stop smoke latched', 'session PAUSED', 'stop_cleared', 'session ACTIVE'],
    ],
    [
      'receives the end of a session before the next one',
      [active(1), active(2, '00000000-0000-4000-8000-000000000002')],
      ['session ACTIVE', 'session COMPLETED', 'stop session_over', 'session ACTIVE'],
    ],
    [
      'receives the newest of two stops',
      [active(1), paused('smoke'), paused('fire')],
      ['session ACTIVE', 'stop smoke latched', 'session PAUSED', 'stop fire latched'],
    ],
  ])('%s', (_name, states, expected) => {
    expect(emittedStates(...states)).toEqual(expected)
  })

  /** Looks up a robot in answers that the test gives, and records why its connections were closed. */
  function lookupFixture(...connections: RobotConnection[]) {
    const fixture = {
      current: connections[0] as RobotConnection,
      readmitting: false,
      admitting: false,
      closed: [] as string[],
      lookups: [] as ((states: LinkState[]) => void)[],
    }
    const close = (reason: string) => void fixture.closed.push(reason)
    for (const link of connections) Object.assign(link, { close })
    const linkStates = () => new Promise<LinkState[]>((resolve) => fixture.lookups.push(resolve))
    const sync = createRobotSync({
      store: { linkStates } as unknown as PresenceStore,
      nodeId: 'node',
      connectionOf: () => fixture.current,
      isReadmitting: () => fixture.readmitting,
      isAdmitting: () => fixture.admitting,
      bus: createMemoryBus(() => {}),
      guard: plainGuard(),
      sessionRegistry: createControlSessionRegistry({
        nodeId: 'node',
        clockMs: () => 1,
      }),
      log: createLog({ level: 'silent', pretty: false }),
      clockMs: () => 1,
    })
    sync.onClosedByDatabase(({ epoch }) => void fixture.closed.push(`readmitted from epoch ${epoch}`))
    const state = { robotId: 'robot', tokenVersion: 1, connected: true, session: null }
    /** Answers the lookup of this number, once it was made. */
    const answer = async (number: number, epoch: number, nodeId = 'node') => {
      await expect.poll(() => fixture.lookups.length, { message: `lookup ${number}` }).toBe(number)
      fixture.lookups[number - 1]?.([{ ...state, epoch, nodeId }])
      await new Promise((resolve) => setImmediate(resolve))
    }
    return Object.assign(fixture, { requestLookup: () => sync.requestLookup(['robot']), answer })
  }

  test('is not closed because of a lookup that is older than its connection', async () => {
    const [old, newer] = [new RobotConnection('robot', 1, 1), new RobotConnection('robot', 1, 1)]
    old.admit({ epoch: 5, ownerId: 'owner' })
    newer.admit({ epoch: 6, ownerId: 'owner' })
    const fixture = lookupFixture(old, newer)
    fixture.requestLookup()
    fixture.current = newer
    await fixture.answer(1, 5)
    await fixture.answer(2, 6)
    expect(fixture.closed).toEqual([])
  })

  test('is not closed because of a lookup that is older than its next epoch', async () => {
    const link = new RobotConnection('robot', 1, 1)
    link.admit({ epoch: 5, ownerId: 'owner' })
    const fixture = lookupFixture(link)
    fixture.requestLookup()
    link.admit({ epoch: 6, ownerId: 'owner' })
    await fixture.answer(1, 5)
    await fixture.answer(2, 6)
    expect(fixture.closed).toEqual([])
  })

  test('is not closed because of a lookup that finds its next epoch first, but because of a newer one', async () => {
    const link = new RobotConnection('robot', 1, 1)
    link.admit({ epoch: 5, ownerId: 'owner' })
    const fixture = lookupFixture(link)
    fixture.readmitting = true
    fixture.requestLookup()
    await fixture.answer(1, 6)
    expect(fixture.closed).toEqual([])
    link.admit({ epoch: 6, ownerId: 'owner' })
    fixture.readmitting = false
    fixture.requestLookup()
    await fixture.answer(2, 7, 'another node')
    expect(fixture.closed).toEqual(['replaced'])
  })

  test('connects again if the answer to its readmission was lost, unless a newer connection of it waits', async () => {
    const link = new RobotConnection('robot', 1, 1)
    link.admit({ epoch: 5, ownerId: 'owner' })
    const fixture = lookupFixture(link)
    fixture.admitting = true
    fixture.requestLookup()
    await fixture.answer(1, 6)
    expect(fixture.closed).toEqual(['replaced'])
    fixture.admitting = false
    fixture.requestLookup()
    await fixture.answer(2, 6)
    expect(fixture.closed).toEqual(['replaced', 'draining'])
  })
})

describe('a robot at a real gateway', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld({ bus: 'redis' })
  })
  afterAll(() => world[Symbol.asyncDispose]())

  test('is stopped, whether or not its gateway reads the state between stop and resumption', async () => {
    await using redis = await createTcpProxy(serviceUrl('redisUrl'))
    const gateway = await world.addNode('gateway', { REDIS_URL: redis.url })
    const fixture = await openSessionFixture(world)
    const link = (await world.connect(fixture.robot, gateway.gatewayUrl)).beat()
    redis.cut() // without hints the gateway polls once a second
    for (const action of ['emergency_stop', 'clear_stop', 'resume']) {
      expect(await fixture.performAction(fixture.operator, action)).toMatchObject({ status: 200 })
    }
    await link.next('stop')
    await waitFor(() =>
      expect(link.frames.filter(({ type }) => type === 'session').at(-1)?.status).toBe('ACTIVE'),
    )
    await fixture.performAction(fixture.operator, 'end')
    redis.restore()
    await link.close()
    await gateway.stop()
  })

  test('is marked for the next poll when the change commits, however long the change waited', async () => {
    const fixture = await openSessionFixture(world)
    await using database = await connectTo(world.database.url)
    const ask = async (sql: string) => (await database.query(sql)).rows[0]
    await ask('begin')
    await ask(`select from robots where id = '${fixture.robot.id}' for update`)
    const stopping = fixture.performAction(fixture.client, 'emergency_stop')
    const waiting = `select count(*)::int from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`
    await waitFor(async () => expect((await ask(waiting)).count).toBeGreaterThan(0))
    const { at } = await ask('select clock_timestamp() as at')
    await ask('commit')
    expect(await stopping).toMatchObject({ status: 200 })
    const { marked } = await ask(
      `select link_changed_at as marked from robots where id = '${fixture.robot.id}'`,
    )
    expect(marked.getTime()).toBeGreaterThanOrEqual(at.getTime())
    await fixture.performAction(fixture.client, 'end')
  })
})
