import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { CertificationView } from '../../src/modules/operators/certification.schema.ts'
import { AvailableRobot, RegisteredRobot } from '../../src/modules/robots/robot.schema.ts'
import { CreatedSession } from '../../src/modules/sessions/record/session-view.schema.ts'
import { createDemoActor, type DemoActor } from './demo-actor.ts'
import type { DemoEnvironment } from './environment.ts'
import { createRobotActor } from './robot-actor.ts'
import { type Actors, runSession } from './session-scenario.ts'
import { ExpectationError, type Transcript } from './transcript.ts'

type UserActors = Pick<Actors, 'transcript' | 'owner' | 'operator'>

const ROBOT_NAME = 'Pip'

/** Steps that undo the scenario, newest first; they run however it ends. */
type Cleanups = (() => Promise<unknown>)[]

/**
 * Runs the main scenario, from the connection of a robot to its disconnection.
 * @throws ExpectationError when a side does not see what it should
 */
export async function runScenario(environment: DemoEnvironment, transcript: Transcript): Promise<void> {
  const cleanups: Cleanups = []
  try {
    const userActors = await connectActors(environment, transcript, cleanups)
    const actors = await connectRobot(userActors, cleanups)
    const sessionId = await startSession(actors, cleanups)
    await runSession(actors, sessionId)
    await disconnectRobot(actors)
    transcript.summary()
  } finally {
    transcript.mute()
    // Each may fail because an earlier step did not happen, or because the scenario has undone it already.
    for (const cleanup of cleanups.reverse()) await cleanup().catch(() => {})
  }
}

async function connectActors(
  { baseUrl, keys }: DemoEnvironment,
  transcript: Transcript,
  cleanups: Cleanups,
): Promise<UserActors> {
  const owner = await createDemoActor({ side: 'OWNER', baseUrl, key: keys.owner }, transcript)
  cleanups.push(owner.close)
  const operator = await createDemoActor({ side: 'OPERATOR', baseUrl, key: keys.operator }, transcript)
  cleanups.push(operator.close)
  return { transcript, owner, operator }
}

async function connectRobot(userActors: UserActors, cleanups: Cleanups): Promise<Actors> {
  const { transcript, owner, operator } = userActors
  await transcript.step('A robot connects, and its owner sees it')
  const { id, control_url, robot_token } = await register(owner, await certifiedType(operator))
  cleanups.push(() => owner.cleanUp('DELETE', `/api/client/robots/${id}`))
  const robot = await createRobotActor({ controlUrl: control_url, token: robot_token }, transcript)
  cleanups.push(
    () => robot.link[Symbol.asyncDispose](),
    () => robot.robot.close(),
  )

  await owner.connect()
  transcript.logSent('OWNER', 'hub robots:watch')
  void owner.hub.watchRobots((update) => {
    const listed = update.kind === 'list'
    const own = (listed ? update.robots : [update.robot]).find((item) => item.robot_id === id)
    if (own)
      transcript.logReceived('OWNER', `${listed ? 'robots:watch lists' : 'robot:status'} ${own.status}`)
  })
  await transcript.waitFor('OWNER', 'robots:watch lists OFFLINE')

  transcript.logSent('ROBOT', `connect ${control_url}`)
  void robot.robot.start()
  await transcript.waitFor('ROBOT', 'welcome, epoch 1, no session')
  const onlineMs = await transcript.waitFor('OWNER', 'robot:status AVAILABLE')
  transcript.recordLatency('robot connects → owner sees AVAILABLE', onlineMs)
  transcript.recordLatency('heartbeat → acknowledged', await transcript.waitFor('ROBOT', 'heartbeat_ack 1'))
  await transcript.waitFor('ROBOT', 'heartbeat_ack 2')
  return { ...userActors, robot, robotId: id }
}

function register(owner: DemoActor, robotType: string) {
  return owner.makeRequest({
    method: 'POST',
    path: '/api/client/robots',
    body: { name: ROBOT_NAME, robot_type: robotType, hardware_id: `demo-${randomUUID()}` },
    answer: RegisteredRobot,
    summarize: ({ name, status }) => `${name} is registered, ${status}; its token is shown only now`,
  })
}

async function certifiedType(operator: DemoActor): Promise<string> {
  const { certifications } = await operator.makeRequest({
    method: 'GET',
    path: '/api/operator/certifications',
    answer: z.object({ certifications: z.array(CertificationView) }),
    summarize: (answer) =>
      answer.certifications.map((item) => `${item.robot_type} ${item.status}`).join(', '),
  })
  const approved = certifications.find((item) => item.status === 'APPROVED')
  if (!approved)
    throw new ExpectationError(
      'The operator needs an APPROVED certification, which robots of this type require',
    )
  return approved.robot_type
}

async function startSession(actors: Actors, cleanups: Cleanups): Promise<string> {
  const { transcript, owner, operator, robotId } = actors
  await transcript.step('An operator starts a session, and its owner observes')
  const { robots } = await operator.makeRequest({
    method: 'GET',
    path: '/api/operator/available-robots',
    answer: z.object({ robots: z.array(AvailableRobot) }),
    summarize: (answer) => `available: ${answer.robots.map((item) => item.name).join(', ')}`,
  })
  if (!robots.some((item) => item.id === robotId))
    throw new ExpectationError('OPERATOR was not shown the new robot')

  const { sessionId } = await operator.makeRequest({
    method: 'POST',
    path: '/api/sessions',
    body: { robotId },
    answer: CreatedSession,
    summarize: ({ status }) => `session ${status}`,
  })
  cleanups.push(() => owner.cleanUp('PATCH', `/api/sessions/${sessionId}`, { action: 'end' }))
  transcript.recordLatency(
    'operator starts → robot has the session',
    await transcript.waitFor('ROBOT', 'session ACTIVE'),
  )
  const notifiedMs = await transcript.waitFor('OWNER', 'notification session.started')
  transcript.recordLatency('operator starts → owner is notified', notifiedMs)
  await transcript.waitFor('OWNER', 'robot:status IN_SESSION')

  owner.watch(sessionId)
  await transcript.waitFor('OWNER', 'log session.started ACTIVE')
  await operator.connect()
  operator.watch(sessionId)
  await transcript.waitFor('OPERATOR', 'log session.started ACTIVE')
  return sessionId
}

async function disconnectRobot({ transcript, robot }: Actors): Promise<void> {
  await transcript.step('The robot goes offline')
  transcript.logSent('ROBOT', 'close the socket')
  await robot.robot.close()
  const offlineMs = await transcript.waitFor('OWNER', 'robot:status OFFLINE')
  transcript.recordLatency('robot closes its socket → owner sees OFFLINE', offlineMs)
}
