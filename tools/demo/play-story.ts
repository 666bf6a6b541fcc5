import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { CertificationView } from '../../src/modules/operators/certification.schema.ts'
import { AvailableRobot, RegisteredRobot } from '../../src/modules/robots/robot.schema.ts'
import { CreatedSession } from '../../src/modules/sessions/session-records.ts'
import { createPerson, type Person } from './play-person.ts'
import { createPlayRobot } from './play-robot.ts'
import { type Cast, playSession } from './play-session.ts'
import type { Stage } from './play-stage.ts'
import { type Transcript, Unmet } from './play-transcript.ts'

type People = Pick<Cast, 'transcript' | 'owner' | 'operator'>

const ROBOT_NAME = 'Pip'

/** Undoes what the story has done, newest first, however it ends. */
type Endings = (() => Promise<unknown>)[]

/**
 * Plays the main job from a robot that connects to a robot that leaves.
 * @throws Unmet when a side does not see what it should
 */
export async function playStory(stage: Stage, transcript: Transcript): Promise<void> {
  const endings: Endings = []
  try {
    const people = await gather(stage, transcript, endings)
    const cast = await robotConnects(people, endings)
    const sessionId = await operatorTakesIt(cast, endings)
    await playSession(cast, sessionId)
    await robotLeaves(cast)
    transcript.summary()
  } finally {
    transcript.mute()
    // Each may fail because an earlier step never happened, or has been undone by the story itself.
    for (const end of endings.reverse()) await end().catch(() => {})
  }
}

async function gather({ baseUrl, keys }: Stage, transcript: Transcript, endings: Endings): Promise<People> {
  const owner = await createPerson({ side: 'OWNER', baseUrl, key: keys.owner }, transcript)
  endings.push(owner.leave)
  const operator = await createPerson({ side: 'OPERATOR', baseUrl, key: keys.operator }, transcript)
  endings.push(operator.leave)
  return { transcript, owner, operator }
}

async function robotConnects(people: People, endings: Endings): Promise<Cast> {
  const { transcript, owner, operator } = people
  await transcript.step('A robot connects, and its owner sees it')
  const { id, control_url, robot_token } = await register(owner, await certifiedType(operator))
  endings.push(() => owner.tidy('DELETE', `/api/client/robots/${id}`))
  const robot = await createPlayRobot({ controlUrl: control_url, token: robot_token }, transcript)
  endings.push(robot.cable.close, () => robot.robot.close())

  await owner.connect()
  transcript.sends('OWNER', 'hub robots:watch')
  void owner.hub.watchRobots((update) => {
    const listed = update.kind === 'list'
    const own = (listed ? update.robots : [update.robot]).find((one) => one.robot_id === id)
    if (own) transcript.sees('OWNER', `${listed ? 'robots:watch lists' : 'robot:status'} ${own.status}`)
  })
  await transcript.until('OWNER', 'robots:watch lists OFFLINE')

  transcript.sends('ROBOT', `connect ${control_url}`)
  void robot.robot.start()
  await transcript.until('ROBOT', 'welcome, epoch 1, no session')
  const onlineMs = await transcript.until('OWNER', 'robot:status AVAILABLE')
  transcript.measured('robot dials → owner sees AVAILABLE', onlineMs)
  transcript.measured('heartbeat → acknowledged', await transcript.until('ROBOT', 'heartbeat_ack 1'))
  await transcript.until('ROBOT', 'heartbeat_ack 2')
  return { ...people, robot, robotId: id }
}

function register(owner: Person, robotType: string) {
  return owner.ask({
    method: 'POST',
    path: '/api/client/robots',
    body: { name: ROBOT_NAME, robot_type: robotType, hardware_id: `demo-${randomUUID()}` },
    answer: RegisteredRobot,
    reads: ({ name, status }) => `${name} is registered, ${status}; its token is shown this once`,
  })
}

async function certifiedType(operator: Person): Promise<string> {
  const { certifications } = await operator.ask({
    method: 'GET',
    path: '/api/operator/certifications',
    answer: z.object({ certifications: z.array(CertificationView) }),
    reads: (answer) => answer.certifications.map((one) => `${one.robot_type} ${one.status}`).join(', '),
  })
  const approved = certifications.find((one) => one.status === 'APPROVED')
  if (!approved)
    throw new Unmet('The operator needs an APPROVED certification, to be shown robots of its type')
  return approved.robot_type
}

async function operatorTakesIt(cast: Cast, endings: Endings): Promise<string> {
  const { transcript, owner, operator, robotId } = cast
  await transcript.step('An operator takes the robot, and its owner looks on')
  const { robots } = await operator.ask({
    method: 'GET',
    path: '/api/operator/available-robots',
    answer: z.object({ robots: z.array(AvailableRobot) }),
    reads: (answer) => `available: ${answer.robots.map((one) => one.name).join(', ')}`,
  })
  if (!robots.some((one) => one.id === robotId)) throw new Unmet('OPERATOR was not shown the new robot')

  const { sessionId } = await operator.ask({
    method: 'POST',
    path: '/api/sessions',
    body: { robotId },
    answer: CreatedSession,
    reads: ({ status }) => `session ${status}`,
  })
  endings.push(() => owner.tidy('PATCH', `/api/sessions/${sessionId}`, { action: 'end' }))
  transcript.measured(
    'operator asks → robot has the session',
    await transcript.until('ROBOT', 'session ACTIVE'),
  )
  const notifiedMs = await transcript.until('OWNER', 'notification session.started')
  transcript.measured('operator asks → owner is notified', notifiedMs)
  await transcript.until('OWNER', 'robot:status IN_SESSION')

  owner.watch(sessionId)
  await transcript.until('OWNER', 'log session.started ACTIVE')
  await operator.connect()
  operator.watch(sessionId)
  await transcript.until('OPERATOR', 'log session.started ACTIVE')
  return sessionId
}

async function robotLeaves({ transcript, robot }: Cast): Promise<void> {
  await transcript.step('The robot goes offline')
  transcript.sends('ROBOT', 'close the socket')
  await robot.robot.close()
  const offlineMs = await transcript.until('OWNER', 'robot:status OFFLINE')
  transcript.measured('robot closes its socket → owner sees OFFLINE', offlineMs)
}
