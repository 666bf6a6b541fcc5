import { expect } from 'vitest'
import type { TestRobot } from '../../../support/gateway/frame-socket.ts'
import type { TestUser } from '../../../support/world/test-user.ts'
import { waitFor } from '../../../support/world/wait.ts'
import { createWorld } from '../../../support/world/world.ts'

export interface Scenario {
  readonly world: Awaited<ReturnType<typeof createWorld>>
  readonly owner: TestUser
  readonly operator: TestUser
  readonly admin: TestUser
  /** A robot in an open session. */
  readonly robot: { id: string; link: TestRobot }
  /** A robot that has never connected. */
  readonly newRobot: { id: string }
  readonly openSessionId: string
  /** A session with a rating of 4 and a comment. */
  readonly completedSessionId: string
  /** Connects a new robot, after which it is AVAILABLE. */
  availableRobot(): Promise<{ id: string; link: TestRobot }>
}

/** Creates the users, robots, completed session and open session that the rows of the specification refer to. */
export async function createSpecificationFixture(): Promise<Scenario> {
  const world = await createWorld({ env: { HEARTBEAT_TIMEOUT_MS: '30000' } })
  const [owner, operator, admin] = [await world.client(), await world.operator(), await world.admin()]
  const availableRobot = async () => {
    const made = await world.robot(owner)
    const link = (await world.connect(made)).beat(1_000)
    return { id: made.id, link }
  }
  const robot = await availableRobot()
  robot.link.send({ type: 'heartbeat', seq: 0 })
  await waitFor(async () => {
    const { body } = await owner.get(`/api/client/robots/${robot.id}`)
    expect(body).toMatchObject({ status: 'AVAILABLE', last_heartbeat: expect.any(String) })
  })
  await certify(operator, admin)
  const completedSessionId = await start(operator, robot.id)
  await ok(operator.patch(`/api/sessions/${completedSessionId}`, { action: 'end' }))
  const rating = { rating: 4, comment: 'Steady hands' }
  await ok(owner.post(`/api/sessions/${completedSessionId}/rate`, rating))
  const openSessionId = await start(operator, robot.id)
  const newRobot = await world.robot(owner)
  return {
    world,
    owner,
    operator,
    admin,
    robot,
    newRobot,
    openSessionId,
    completedSessionId,
    availableRobot,
  }
}

async function certify(operator: TestUser, admin: TestUser): Promise<void> {
  const request = await ok(operator.post('/api/operator/certifications', { robot_type: 'testbot' }))
  await ok(admin.post(`/api/admin/certifications/${request.body.id}/approve`))
}

/** Starts a session and returns its id. */
export async function start(operator: TestUser, robotId: string): Promise<string> {
  return (await ok(operator.post('/api/sessions', { robotId }))).body.sessionId
}

/** Returns the reply and expects it to be a success. */
export async function ok(requests: ReturnType<TestUser['get']>) {
  const reply = await requests
  expect(reply.status, JSON.stringify(reply.body)).toBeLessThan(300)
  return reply
}
