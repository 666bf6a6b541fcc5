import { SessionLogEvent } from '@wheelhouse/protocol'
import { z } from 'zod'
import { SessionDetail, SessionView } from '../../src/modules/sessions/session-records.ts'
import type { Person } from './play-person.ts'
import type { PlayRobot } from './play-robot.ts'
import { type Transcript, Unmet } from './play-transcript.ts'

/** Who plays, and on which robot. */
export interface Cast {
  readonly transcript: Transcript
  readonly owner: Person
  readonly operator: Person
  readonly robotId: string
  readonly robot: PlayRobot
}

/** Fields of a session that say nothing to a reader. */
const NOT_IN_TABLE = ['id', 'robot_id', 'robot_type', 'created_at']

/** Plays what happens while an operator has the robot, until the session is over. */
export async function playSession(cast: Cast, sessionId: string): Promise<void> {
  await theyChat(cast, sessionId)
  await ownerPauses(cast, sessionId)
  await robotIsLost(cast, sessionId)
  await ownerMissesSome(cast, sessionId)
  await operatorEnds(cast, sessionId)
}

async function theyChat({ transcript, owner, operator }: Cast, sessionId: string): Promise<void> {
  await transcript.step('They chat')
  const hello = 'Hello, I have your robot.'
  await operator.chat(sessionId, hello)
  transcript.measured('chat → other side', await transcript.until('OWNER', `log chat.message "${hello}"`))
  const answer = 'Welcome. Mind the shelf.'
  await owner.chat(sessionId, answer)
  await transcript.until('OPERATOR', `log chat.message "${answer}"`)
}

async function ownerPauses(cast: Cast, sessionId: string): Promise<void> {
  const { transcript, owner } = cast
  await transcript.step('The owner pauses, the operator resumes')
  await owner.act(sessionId, 'pause', 'Somebody walks in')
  await transcript.until('ROBOT', 'session PAUSED')
  const stopMs = await transcript.until('ROBOT', 'stop session_paused')
  transcript.measured('owner pauses → robot is told to stop', stopMs)
  await bothSee(cast, 'log session.paused PAUSED (Somebody walks in)')
  await transcript.until('OPERATOR', 'notification session.paused')
  await resume(cast, sessionId)
}

async function robotIsLost(cast: Cast, sessionId: string): Promise<void> {
  const { transcript, operator, robot } = cast
  await transcript.step("The robot's connection breaks; it comes back by itself")
  transcript.befalls('ROBOT', 'its cable is cut')
  robot.cable.cut()
  await transcript.until('ROBOT', 'offline')
  const lostMs = await transcript.until('OWNER', 'log robot.lost PAUSED (robot_lost)')
  transcript.measured('connection breaks → owner is told', lostMs)
  await transcript.until('OPERATOR', 'log robot.lost PAUSED (robot_lost)')
  await bothSee(cast, 'notification robot.lost')
  await operator.ask({
    method: 'PATCH',
    path: `/api/sessions/${sessionId}`,
    body: { action: 'resume' },
    status: 409,
    answer: z.object({ error: z.string() }),
    reads: ({ error }) => error,
  })

  transcript.befalls('ROBOT', 'its cable is mended')
  robot.cable.mend()
  await transcript.until('ROBOT', 'welcome, epoch 2, session PAUSED')
  await bothSee(cast, 'log robot.back PAUSED')
  await bothSee(cast, 'notification robot.back')
  await resume(cast, sessionId)
}

async function ownerMissesSome({ transcript, owner, operator }: Cast, sessionId: string): Promise<void> {
  await transcript.step("The owner's connection breaks, and what it misses is made up for")
  transcript.befalls('OWNER', 'its cable is cut')
  owner.cable.cut()
  await transcript.until('OWNER', 'hub disconnected')
  const heardBefore = owner.heard.length
  const missed: number[] = []
  for (const body of ['I turn left.', 'I see the shelf.', 'I stop here.']) {
    missed.push(await operator.chat(sessionId, body))
  }
  if (owner.heard.length !== heardBefore) throw new Unmet('OWNER heard something over a cable that is cut')

  transcript.befalls('OWNER', 'its cable is mended')
  owner.cable.mend()
  await transcript.until('OWNER', 'hub connected')
  await transcript.until('OWNER', 'robots:watch lists IN_SESSION')
  const backMs = await transcript.until('OWNER', 'log chat.message "I stop here."')
  transcript.measured('cable is mended → owner has what it missed', backMs)
  const [got, wanted] = [owner.heard.slice(heardBefore).join(', '), missed.join(', ')]
  if (got !== wanted) throw new Unmet(`OWNER should have got ${wanted} of the log, but got ${got}`)
  transcript.confirms('OWNER', `got exactly what it had missed, in order: ${wanted}`)
}

async function operatorEnds(cast: Cast, sessionId: string): Promise<void> {
  const { transcript, owner, operator } = cast
  await transcript.step('The operator ends the session')
  await change(operator, sessionId, 'end')
  await transcript.until('ROBOT', 'session COMPLETED')
  await transcript.until('ROBOT', 'stop session_over')
  await bothSee(cast, 'log session.ended COMPLETED')
  await bothSee(cast, 'notification session.ended')
  await transcript.until('OWNER', 'robot:status AVAILABLE')

  const { events } = await owner.ask({
    method: 'GET',
    path: `/api/sessions/${sessionId}/events`,
    answer: z.object({ events: z.array(SessionLogEvent) }),
    reads: (answer) => `the log has ${answer.events.length} entries`,
  })
  for (const person of [owner, operator]) {
    if (person.heard.join() !== events.map((event) => event.seq).join())
      throw new Unmet(`${person.side} was told entries ${person.heard.join(', ')} of the log`)
    transcript.confirms(person.side, `heard entries 1 to ${events.length} over the hub, each once, in order`)
  }
  const views = [await listed(owner, sessionId), await listed(operator, sessionId)] as const
  transcript.table(tableOf(...views))
}

/** The operator lets the robot drive again. */
async function resume(cast: Cast, sessionId: string): Promise<void> {
  await change(cast.operator, sessionId, 'resume')
  await cast.transcript.until('ROBOT', 'session ACTIVE')
  await bothSee(cast, 'log session.resumed ACTIVE')
  await cast.transcript.until('OWNER', 'notification session.resumed')
}

async function change(person: Person, sessionId: string, action: 'resume' | 'end'): Promise<void> {
  await person.ask({
    method: 'PATCH',
    path: `/api/sessions/${sessionId}`,
    body: { action },
    answer: SessionDetail,
    reads: ({ status }) => `session ${status}`,
  })
}

async function bothSee({ transcript }: Cast, text: string): Promise<void> {
  await transcript.until('OWNER', text)
  await transcript.until('OPERATOR', text)
}

async function listed(person: Person, sessionId: string): Promise<Record<string, unknown>> {
  const { sessions } = await person.ask({
    method: 'GET',
    path: '/api/sessions?status=COMPLETED&limit=10',
    answer: z.object({ sessions: z.array(SessionView) }),
    reads: (answer) => `${answer.sessions.length} session(s)`,
  })
  const own = sessions.find((session) => session.id === sessionId)
  if (!own) throw new Unmet(`${person.side} does not find the session in the list`)
  return own
}

/** What either side sees of the session, field by field. */
function tableOf(owner: Record<string, unknown>, operator: Record<string, unknown>): string[][] {
  const fields = new Set([...Object.keys(owner), ...Object.keys(operator)])
  const cell = (view: Record<string, unknown>, field: string) => (field in view ? String(view[field]) : '–')
  const shown = [...fields].filter((field) => !NOT_IN_TABLE.includes(field))
  return [
    ['session', 'OWNER', 'OPERATOR'],
    ...shown.map((field) => [field, cell(owner, field), cell(operator, field)]),
  ]
}
