import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startGatewayProcess } from '../../support/processes/gateway-process.ts'
import { performAction, start, tolerateLatency } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const SHORT_GRACE_MS = 4_000
/** The graces end in the tests that wait for it. In the others, a robot has time to reconnect on a busy machine. */
const graces = { OPERATOR_GRACE_MS: '1500', ROBOT_GRACE_MS: '600000' }

let world: World
beforeAll(async () => {
  world = await createWorld({ bus: 'redis', env: graces })
})
afterAll(() => endWorld(world))

/** Ends a world after its sweep has found every gateway that was killed. */
async function endWorld(ending: World): Promise<void> {
  await waitFor(async () => {
    const nodes = await ending.platform.core.db.selectFrom('gateway_nodes').select('id').execute()
    expect(nodes).toHaveLength(1)
  })
  await ending[Symbol.asyncDispose]()
}

/** Creates a gateway in a separate process, and a new session whose robot is driven there. */
async function drivenElsewhere(world: World, graceEnv: Record<string, string> = graces) {
  const gateway = startGatewayProcess(world, {
    HEARTBEAT_INTERVAL_MS: '200',
    // A busy machine sends heartbeats late.
    HEARTBEAT_TIMEOUT_MS: '30000',
    ...graceEnv,
  })
  onTestFinished(() => gateway[Symbol.asyncDispose]())
  const { gatewayUrl } = await gateway.serving()
  const [client, operator] = [await world.client(), await world.operator()]
  const robot = await world.robot(client)
  await tolerateLatency(world, robot.id)
  const link = (await world.connect(robot, gatewayUrl)).beat()
  const id = await start(operator, robot.id)
  const console = await world.drive(operator, id)
  await console.state(({ status }) => status === 'ACTIVE')
  console.control()
  await link.next('control')
  const session = async () => (await client.get(`/api/sessions/${id}`)).body
  const log = async (): Promise<{ type: string; data: Record<string, unknown> }[]> =>
    (await client.get(`/api/sessions/${id}/events?limit=200`)).body.events
  /** Settles when the database has recorded that the session is driven. */
  const isDriven = () =>
    waitFor(async () => {
      const { driven } = await world.platform.core.db
        .selectFrom('sessions')
        .select('driven')
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
      expect(driven).toBe(true)
    })
  return { gateway, client, operator, robot, link, id, console, session, log, isDriven }
}

describe('kill -9 of the gateway', () => {
  test('during control: participants reconnect to another gateway and continue, after a resume at most', async () => {
    const { gateway, operator, robot, id, session } = await drivenElsewhere(world)
    await gateway.end('SIGKILL')
    const back = (await world.connect(robot)).beat()
    const again = await world.drive(operator, id)
    await again.state()
    await waitFor(async () => {
      // The outage took as long as this machine needed, perhaps too long to continue without a resume.
      if ((await session()).status === 'PAUSED') await performAction(operator, id, 'resume')
      again.control()
      await back.next('control', 200)
    })
  })

  test('during the operator’s grace: the session pauses, although its robot reconnects at once', async () => {
    const { gateway, robot, console, session, log, isDriven } = await drivenElsewhere(world)
    await isDriven()
    console.destroy()
    await gateway.end('SIGKILL')
    const back = (await world.connect(robot)).beat()
    await waitFor(async () => expect((await session()).status).toBe('PAUSED'))
    const reasons = (await log()).map(({ data }) => data.reason).filter(Boolean)
    expect(['operator_lost', 'robot_lost']).toContain(reasons[0])
    expect(back.socket.readyState).toBe(WebSocket.OPEN)
  })

  test('during the robot’s grace: the session ends when the grace is over', async () => {
    const shortGrace = { ...graces, ROBOT_GRACE_MS: String(SHORT_GRACE_MS) }
    const impatient = await createWorld({ bus: 'redis', env: shortGrace })
    onTestFinished(() => endWorld(impatient))
    const { gateway, link, session, log } = await drivenElsewhere(impatient, shortGrace)
    link.destroy()
    await waitFor(async () => expect((await session()).status).toBe('PAUSED'))
    await gateway.end('SIGKILL')
    await waitFor(async () => expect((await session()).status).toBe('COMPLETED'))
    const entries = await log()
    const at = (type: string) =>
      Date.parse((entries.find((entry) => entry.type === type) as unknown as { at: string }).at)
    expect(at('session.ended') - at('robot.lost')).toBeGreaterThanOrEqual(SHORT_GRACE_MS)
    expect(entries.at(-1)).toMatchObject({ type: 'session.ended', data: { reason: 'robot_lost' } })
  })

  test('during the robot’s grace: the session continues after a reconnection to another gateway', async () => {
    const { gateway, operator, robot, link, id, session } = await drivenElsewhere(world)
    link.destroy()
    await waitFor(async () => expect((await session()).status).toBe('PAUSED'))
    await gateway.end('SIGKILL')
    const back = (await world.connect(robot)).beat()
    const again = await world.drive(operator, id)
    await again.state()
    await performAction(operator, id, 'resume')
    await again.state(({ status }) => status === 'ACTIVE')
    again.control()
    await back.next('control')
    expect((await session()).status).toBe('ACTIVE')
  })
})
