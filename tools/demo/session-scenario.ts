import { SessionLogEvent } from '@wheelhouse/protocol'
import { z } from 'zod'
import { SessionDetail, SessionView } from '../../src/modules/sessions/record/session-view.schema.ts'
import type { DemoActor } from './demo-actor.ts'
import type { RobotActor } from './robot-actor.ts'
import { ExpectationError, type Transcript } from './transcript.ts'

/** The accounts and the robot. */
export interface Actors {
  readonly transcript: Transcript
  readonly owner: DemoActor
  readonly operator: DemoActor
  readonly robotId: string
  readonly robot: RobotActor
}

/** Fields of a session that are of no interest to a reader. */
const HIDDEN_FIELDS = ['id', 'robot_id', 'robot_type', 'created_at']

/** Runs the steps from the start of the session to its end. */
export async function runSession(actors: Actors, sessionId: string): Promise<void> {
  await exchangeChat(actors, sessionId)
  await pauseAsOwner(actors, sessionId)
  await loseRobotConnection(actors, sessionId)
  await missEventsAsOwner(actors, sessionId)
  await endAsOperator(actors, sessionId)
}

async function exchangeChat({ transcript, owner, operator }: Actors, sessionId: string): Promise<void> {
  await transcript.step('They chat')
  const hello = 'Hello, I have your robot.'
  await operator.sendChat(sessionId, hello)
  transcript.recordLatency(
    'chat → other side',
    await transcript.waitFor('OWNER', `log chat.message "${hello}"`),
  )
  const answer = 'Welcome. Mind the shelf.'
  await owner.sendChat(sessionId, answer)
  await transcript.waitFor('OPERATOR', `log chat.message "${answer}"`)
}

async function pauseAsOwner(actors: Actors, sessionId: string): Promise<void> {
  const { transcript, owner } = actors
  await transcript.step('The owner pauses, the operator resumes')
  await owner.performAction(sessionId, 'pause', 'A person walks in')
  await transcript.waitFor('ROBOT', 'session PAUSED')
  const stopMs = await transcript.waitFor('ROBOT', 'stop session_paused')
  transcript.recordLatency('owner pauses → robot receives stop', stopMs)
  await waitForBoth(actors, 'log session.paused PAUSED (A person walks in)')
  await transcript.waitFor('OPERATOR', 'notification session.paused')
  await resume(actors, sessionId)
}

async function loseRobotConnection(actors: Actors, sessionId: string): Promise<void> {
  const { transcript, operator, robot } = actors
  await transcript.step("The robot's connection breaks; the robot reconnects by itself")
  transcript.logFault('ROBOT', 'its link is cut')
  robot.link.cut()
  await transcript.waitFor('ROBOT', 'offline')
  const lostMs = await transcript.waitFor('OWNER', 'log robot.lost PAUSED (robot_lost)')
  transcript.recordLatency('connection breaks → owner is notified', lostMs)
  await transcript.waitFor('OPERATOR', 'log robot.lost PAUSED (robot_lost)')
  await waitForBoth(actors, 'notification robot.lost')
  await operator.makeRequest({
    method: 'PATCH',
    path: `/api/sessions/${sessionId}`,
    body: { action: 'resume' },
    status: 409,
    answer: z.object({ error: z.string() }),
    summarize: ({ error }) => error,
  })

  transcript.logFault('ROBOT', 'its link is restored')
  robot.link.restore()
  await transcript.waitFor('ROBOT', 'welcome, epoch 2, session PAUSED')
  await waitForBoth(actors, 'log robot.back PAUSED')
  await waitForBoth(actors, 'notification robot.back')
  await resume(actors, sessionId)
}

async function missEventsAsOwner({ transcript, owner, operator }: Actors, sessionId: string): Promise<void> {
  await transcript.step("The owner's connection breaks; the hub replays the missed events")
  transcript.logFault('OWNER', 'its link is cut')
  owner.link.cut()
  await transcript.waitFor('OWNER', 'hub disconnected')
  const receivedBefore = owner.receivedSeqs.length
  const missed: number[] = []
  for (const body of ['I turn left.', 'I see the shelf.', 'I stop here.']) {
    missed.push(await operator.sendChat(sessionId, body))
  }
  if (owner.receivedSeqs.length !== receivedBefore)
    throw new ExpectationError('OWNER received an event over a link that is cut')

  transcript.logFault('OWNER', 'its link is restored')
  owner.link.restore()
  await transcript.waitFor('OWNER', 'hub connected')
  await transcript.waitFor('OWNER', 'robots:watch lists IN_SESSION')
  const backMs = await transcript.waitFor('OWNER', 'log chat.message "I stop here."')
  transcript.recordLatency('link is restored → owner has the missed events', backMs)
  const [received, expected] = [owner.receivedSeqs.slice(receivedBefore).join(', '), missed.join(', ')]
  if (received !== expected)
    throw new ExpectationError(
      `OWNER should have received entries ${expected} of the log, but received ${received}`,
    )
  transcript.logCheck('OWNER', `received exactly the missed entries, in order: ${expected}`)
}

async function endAsOperator(actors: Actors, sessionId: string): Promise<void> {
  const { transcript, owner, operator } = actors
  await transcript.step('The operator ends the session')
  await change(operator, sessionId, 'end')
  await transcript.waitFor('ROBOT', 'session COMPLETED')
  await transcript.waitFor('ROBOT', 'stop session_over')
  await waitForBoth(actors, 'log session.ended COMPLETED')
  await waitForBoth(actors, 'notification session.ended')
  await transcript.waitFor('OWNER', 'robot:status AVAILABLE')

  const { events } = await owner.makeRequest({
    method: 'GET',
    path: `/api/sessions/${sessionId}/events`,
    answer: z.object({ events: z.array(SessionLogEvent) }),
    summarize: (answer) => `the log has ${answer.events.length} entries`,
  })
  for (const actor of [owner, operator]) {
    if (actor.receivedSeqs.join() !== events.map((event) => event.seq).join())
      throw new ExpectationError(`${actor.side} received entries ${actor.receivedSeqs.join(', ')} of the log`)
    transcript.logCheck(
      actor.side,
      `received entries 1 to ${events.length} over the hub, each once, in order`,
    )
  }
  const views = [
    await findListedSession(owner, sessionId),
    await findListedSession(operator, sessionId),
  ] as const
  transcript.table(toTable(...views))
}

/** Resumes the session as the operator, who may then drive again. */
async function resume(actors: Actors, sessionId: string): Promise<void> {
  await change(actors.operator, sessionId, 'resume')
  await actors.transcript.waitFor('ROBOT', 'session ACTIVE')
  await waitForBoth(actors, 'log session.resumed ACTIVE')
  await actors.transcript.waitFor('OWNER', 'notification session.resumed')
}

async function change(actor: DemoActor, sessionId: string, action: 'resume' | 'end'): Promise<void> {
  await actor.makeRequest({
    method: 'PATCH',
    path: `/api/sessions/${sessionId}`,
    body: { action },
    answer: SessionDetail,
    summarize: ({ status }) => `session ${status}`,
  })
}

async function waitForBoth({ transcript }: Actors, text: string): Promise<void> {
  await transcript.waitFor('OWNER', text)
  await transcript.waitFor('OPERATOR', text)
}

async function findListedSession(actor: DemoActor, sessionId: string): Promise<Record<string, unknown>> {
  const { sessions } = await actor.makeRequest({
    method: 'GET',
    path: '/api/sessions?status=COMPLETED&limit=10',
    answer: z.object({ sessions: z.array(SessionView) }),
    summarize: (answer) => `${answer.sessions.length} session(s)`,
  })
  const own = sessions.find((session) => session.id === sessionId)
  if (!own) throw new ExpectationError(`${actor.side} does not find the session in the list`)
  return own
}

/** Prints the session as either side sees it, field by field. */
function toTable(owner: Record<string, unknown>, operator: Record<string, unknown>): string[][] {
  const fields = new Set([...Object.keys(owner), ...Object.keys(operator)])
  const cell = (view: Record<string, unknown>, field: string) => (field in view ? String(view[field]) : '–')
  const shown = [...fields].filter((field) => !HIDDEN_FIELDS.includes(field))
  return [
    ['session', 'OWNER', 'OPERATOR'],
    ...shown.map((field) => [field, cell(owner, field), cell(operator, field)]),
  ]
}
