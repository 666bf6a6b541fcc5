import { array, constantFrom, nat, record, sample } from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../../src/core/database/embedded-postmaster.ts'
import type { TestDriver, TestRobot } from '../../support/gateway/frame-socket.ts'
import { startGatewayProcess } from '../../support/processes/gateway-process.ts'
import { startWheelhouse } from '../../support/processes/processes.ts'
import { serviceUrl } from '../../support/runner/service-url.ts'
import { addMember, createTeam, teamRobot } from '../../support/world/organizations.ts'
import { start, tolerateLatency } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

// kill -9 of the processes that decide and carry control, while it changes hands. Robot and participants are at a gateway in a separate
// process, and changes are sent to an API in another one; the platform of the test reads, publishes events and sweeps.

const TIMEOUT_MS = '10000'
const LONG_GRACE_MS = 600_000
const SHORT_GRACE_MS = 1_500

const closers: (() => unknown)[] = []
let world: World
beforeAll(async () => {
  const env = {
    ROLES: 'api,hub,worker',
    ROBOT_GRACE_MS: String(LONG_GRACE_MS),
    HEARTBEAT_TIMEOUT_MS: TIMEOUT_MS,
  }
  world = await createWorld({ bus: 'redis', env })
})
afterAll(async () => {
  for (const close of closers.reverse()) await close()
  // The sweep finds every gateway that was killed.
  await waitFor(async () =>
    expect(await world.platform.core.db.selectFrom('gateway_nodes').select('id').execute()).toEqual([]),
  )
  await world[Symbol.asyncDispose]()
})

/** Starts an API on a free port, behind the address of the platform. */
async function startApi() {
  const port = await freePort()
  const process = startWheelhouse({
    ROLES: 'api',
    PORT: String(port),
    BASE_URL: world.baseUrl,
    DATABASE_URL: world.database.url,
    REDIS_URL: serviceUrl('redisUrl'),
    SECRET_KEY: 'a key for tests only, at least 32 characters',
    RATE_LIMIT_PER_MINUTE: '0',
  })
  closers.push(() => process[Symbol.asyncDispose]())
  await process.serving()
  return { process, url: `http://127.0.0.1:${port}` }
}

async function startGateway(graceMs: number) {
  const process = startGatewayProcess(world, {
    HEARTBEAT_INTERVAL_MS: '200',
    HEARTBEAT_TIMEOUT_MS: TIMEOUT_MS,
    ROBOT_GRACE_MS: String(LONG_GRACE_MS),
    OPERATOR_GRACE_MS: String(graceMs),
    DEADMAN_MS: '30000',
  })
  closers.push(() => process[Symbol.asyncDispose]())
  return { process, url: (await process.serving()).gatewayUrl }
}

const names = ['operator', 'supervisor', 'owner'] as const
type Name = (typeof names)[number]

/** A session of a team whose robot is at a gateway of its own, with everybody who may control it. */
async function createSession(graceMs: number) {
  const founder = await world.client()
  const teamId = await createTeam(founder)
  const owner = await founder.actingFor(teamId)
  const member = async (role: 'operator' | 'supervisor') => {
    const user = await world.newUser()
    await addMember(world, teamId, user, role)
    return await user.actingFor(teamId)
  }
  const users = { operator: await member('operator'), supervisor: await member('supervisor'), owner }
  // Sessions of the test's own provider are known to its own process only.
  const keyOf = async (name: Name) => (await users[name].key()).key
  const keys = {
    operator: await keyOf('operator'),
    supervisor: await keyOf('supervisor'),
    owner: await keyOf('owner'),
  }
  const nameOf = (userId: string | undefined) => names.find((name) => users[name].id === userId) ?? null
  const registered = await teamRobot(owner)
  await tolerateLatency(world, registered.id)
  let [api, gateway] = await Promise.all([startApi(), startGateway(graceMs)])
  /** The connections of the robot, the newest last. */
  const robots: TestRobot[] = []
  const connectRobot = async () => void robots.push((await world.connect(registered, gateway.url)).beat())
  await connectRobot()
  const id = await waitFor(() => start(users.operator, registered.id))
  const path = `/api/sessions/${id}/control`
  const drivers = new Map<Name, TestDriver>()
  /** Connects as programs do: again while the ticket names the gateway that was killed. */
  const connect = (name: Name) =>
    waitFor(async () => {
      const driver = await world.drive(users[name], id)
      await driver.state()
      drivers.set(name, driver)
    })
  for (const name of names) await connect(name)

  const lease = async () => {
    const { epoch, holder } = (await owner.get(path)).body
    return { epoch: Number(epoch), holder: nameOf(holder?.user_id) }
  }
  /** What the robot was told last about who controls it. */
  const told = () => {
    const frame = robots.at(-1)?.frames.findLast(({ type }) => type === 'lease')
    const holder = frame?.holder as { user_id: string } | null | undefined
    return frame && { epoch: Number(frame.epoch), holder: nameOf(holder?.user_id) }
  }
  /** All commands that the robot got, in their order: in which epoch, and who sent them. */
  const commands = () =>
    robots
      .flatMap(({ frames }) => frames)
      .filter(({ type }) => type === 'control')
      .map(({ epoch = 1, data }) => ({ epoch: Number(epoch), by: (data as { by: Name }).by }))
  const everybodySends = () => {
    for (const [by, driver] of drivers) driver.control({ by })
  }

  return {
    id,
    users,
    drivers,
    connect,
    lease,
    told,
    commands,

    /** Sends a change to the API that may be killed. Returns its status; 0 without an answer. */
    async change(name: Name, action: string): Promise<number> {
      everybodySends()
      const headers = { Authorization: `Bearer ${keys[name]}`, 'Content-Type': 'application/json' }
      const init = { method: 'POST', headers, body: JSON.stringify({ action }) }
      const reply = await fetch(api.url + path, init).catch(() => undefined)
      everybodySends()
      return reply?.status ?? 0
    },

    async restartApi(): Promise<void> {
      await api.process.end('SIGKILL')
      api = await startApi()
    },

    /** Kills the gateway and starts another one, to which the robot and these participants connect. */
    async restartGateway(whom: readonly Name[] = names): Promise<void> {
      await gateway.process.end('SIGKILL')
      drivers.clear()
      gateway = await startGateway(graceMs)
      await connectRobot()
      for (const name of whom) await connect(name)
    },

    /** Settles when the platform and the robot agree about who holds control, and the robot obeys the holder; returns the lease. */
    agreed: () =>
      waitFor(async () => {
        if ((await lease()).holder === null) await users.operator.post(path, { action: 'take_over' })
        const { status } = (await owner.get(`/api/sessions/${id}`)).body
        if (status === 'PAUSED') await users.operator.patch(`/api/sessions/${id}`, { action: 'resume' })
        everybodySends()
        const now = await lease()
        expect(told()).toEqual(now)
        expect(commands().at(-1)).toEqual({ epoch: now.epoch, by: now.holder })
        return now
      }),

    /** The epochs as the database has them. */
    intervals: () =>
      world.platform.core.db
        .selectFrom('control_intervals')
        .select(['epoch', 'user_id', 'started_at', 'ended_at'])
        .where('session_id', '=', id)
        .orderBy('epoch')
        .execute()
        .then((rows) => rows.map((row) => ({ ...row, holder: nameOf(row.user_id ?? undefined) }))),
  }
}
type Session = Awaited<ReturnType<typeof createSession>>

/** Checks what must hold at any time: one epoch after the other, and no command of anybody but the holder of its epoch. */
async function expectOneHolder({ intervals, commands }: Session): Promise<void> {
  const epochs = await intervals()
  expect(epochs.map(({ epoch }) => epoch)).toEqual(epochs.map((_, index) => index + 1))
  expect(epochs.map(({ ended_at }) => ended_at)).toEqual([
    ...epochs.slice(1).map(({ started_at }) => started_at),
    null,
  ])
  let newest = 1
  for (const command of commands()) {
    expect(command).toEqual({ epoch: command.epoch, by: epochs[command.epoch - 1]?.holder })
    expect(command.epoch).toBeGreaterThanOrEqual(newest)
    newest = command.epoch
  }
}

const CHANGES = 10
const KILLS = 6
const SEED = 39

/** The changes of one round, all sent at once, and after how many answers the process is killed. */
const Round = record({
  changes: array(
    record({
      name: constantFrom(...names),
      action: constantFrom('take_over', 'take_over', 'return', 'revoke', 'request'),
    }),
    { minLength: CHANGES, maxLength: CHANGES },
  ),
  killAfter: nat(CHANGES - 1),
})

test('kill -9 of API and gateway while control changes hands leaves one holder, whom the robot obeys', async () => {
  const session = await createSession(LONG_GRACE_MS)
  for (const [round, { changes, killAfter }] of sample(Round, { seed: SEED, numRuns: KILLS }).entries()) {
    const { holder } = await session.lease()
    expect(await session.change('owner', holder === 'owner' ? 'return' : 'take_over')).toBe(200)

    const due = Promise.withResolvers<void>()
    let answered = 0
    const replies = changes.map(async ({ name, action }) => {
      const status = await session.change(name, action)
      answered += 1
      if (answered >= killAfter) due.resolve()
      return status
    })
    if (killAfter > 0) await due.promise
    await (round % 2 === 0 ? session.restartApi() : session.restartGateway())
    for (const status of await Promise.all(replies)) expect([0, 200, 403, 409]).toContain(status)

    const now = await session.agreed()
    await expectOneHolder(session)
    expect(now.epoch).toBeGreaterThan(round + 1)
    for (const [name, driver] of session.drivers) {
      if (name === now.holder) continue
      driver.control({ by: name })
      await waitFor(() =>
        expect(driver.frames.findLast(({ type }) => type === 'dropped')).toMatchObject({ why: 'not_holder' }),
      )
    }
  }
})

test('kill -9 of the gateway right after the holder was lost: control passes on, to nobody who is gone', async () => {
  const session = await createSession(SHORT_GRACE_MS)
  expect(await session.change('supervisor', 'take_over')).toBe(200)
  expect(await session.agreed()).toEqual({ epoch: 2, holder: 'supervisor' })
  session.drivers.get('supervisor')?.destroy()
  await session.restartGateway(['operator'])
  // Perhaps to nobody, if the operator needed longer than the grace: then the operator takes it.
  await waitFor(async () => expect(await session.agreed()).toMatchObject({ holder: 'operator' }))
  await expectOneHolder(session)
  const epochs = await session.intervals()
  expect(epochs.map(({ holder }) => holder).filter((holder) => holder === 'supervisor')).toHaveLength(1)
})
