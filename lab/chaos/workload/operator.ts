import { OperatorLink, ticketsOf } from '@wheelhouse/sdk'
import { sendChatMessage } from './chat.ts'
import { type ActorContext, rest } from './context.ts'
import { readExport } from './exports.ts'
import type { LoadRobot } from './robot.ts'

/** Share of choices that prefer a free robot; the rest choose any robot, so that some operators compete. */
const FREE_SHARE = 0.8
const SESSION_S = [6, 25] as const
const ACTION_INTERVAL_MS = [400, 2_500] as const
const END_LIMIT_MS = 60_000
const SETTLE_MS = 1_000
const STOP_LIMIT_MS = 15_000

/** Creates an operator who starts a session, drives, performs session actions, ends, and repeats this until the load ends. */
export async function runOperator(context: ActorContext, robots: readonly LoadRobot[]): Promise<void> {
  while (!context.over.aborted) {
    const free = robots.filter((robot) => !robot.isWanted)
    const robot = context.random.pick(free.length > 0 && context.random.chance(FREE_SHARE) ? free : robots)
    const sessionId = await startSession(context, robot)
    if (sessionId !== null) await drive(context, robot, sessionId)
    await rest(context.over, context.random.between(200, 1_500))
  }
}

/** Starts a session; returns null when that fails. Ends a forgotten open session, so that the next can begin. */
export async function startSession(
  { rest, user, evidence, view }: ActorContext,
  robot: LoadRobot,
): Promise<string | null> {
  const start = { operatorId: user.id, robotId: robot.fixture.id, sessionId: null as string | null }
  evidence.starts.push(start)
  const reply = await rest.post('start', '/api/sessions', { robotId: robot.fixture.id })
  if (reply.outcome === 'kept') start.sessionId = 'kept'
  if (reply.outcome === 'acknowledged') {
    start.sessionId = String(reply.body.sessionId)
    view.watch(start.sessionId)
    return start.sessionId
  }
  if (reply.outcome === 'refused' && reply.settled) evidence.starts.splice(evidence.starts.indexOf(start), 1)
  if (reply.code !== 'operator_busy' && reply.outcome !== 'kept') return null
  for (const status of ['ACTIVE', 'PAUSED']) {
    const list = await rest.ask('list', 'GET', `/api/sessions?status=${status}`)
    const sessions = (list.body.sessions ?? []) as { id: string }[]
    for (const { id } of sessions) await rest.ask('end', 'PATCH', `/api/sessions/${id}`, { action: 'end' })
  }
  return null
}

/** Runs one session, from the first control frame to its end. */
async function drive(context: ActorContext, robot: LoadRobot, sessionId: string): Promise<void> {
  const { random, over, baseUrl, user, Socket } = context
  const link = new OperatorLink({
    getTicket: ticketsOf({ baseUrl, token: user.apiKey, sessionId, part: 'control' }),
    reconnect: { baseMs: 100, maxMs: 1_500 },
    WebSocket: Socket,
    onError: () => {}, // no tickets while the api is down
  })
  link.connect().catch(() => {}) // rejects when the session ends first
  const shift = createShift(context, robot, link, sessionId)
  const untilMs = performance.now() + random.between(...SESSION_S) * 1_000
  while (performance.now() < untilMs && !over.aborted && shift.open()) {
    await rest(over, random.between(...ACTION_INTERVAL_MS))
    if (shift.open() && !over.aborted) await shift.performAction()
  }
  shift.rest()
  await endSession(context, sessionId)
  await link.close()
}

function createShift(context: ActorContext, robot: LoadRobot, link: OperatorLink, sessionId: string) {
  const { random, rest: api, evidence, view, over } = context
  let driving = true
  let blockedUntilMs = 0
  const path = `/api/sessions/${sessionId}`
  const patch = (action: string) => api.ask(action, 'PATCH', path, { action })
  const requested = (value: boolean) => {
    driving = value
    robot.wanted(value)
  }
  requested(true)
  const turn = random.between(-1, 1)
  let step = 0
  const control = setInterval(
    () => driving && link.control({ linear_mps: 0.4, angular_radps: turn, step: ++step }),
    Math.round(1_000 / random.between(20, 50)),
  )
  /** Resumes a paused session; clears a stop of others after a short delay. */
  let resuming = false
  const resumer = setInterval(async () => {
    const state = link.state
    const paused = link.connection === 'online' && state?.status === 'PAUSED' && state.robot_connected
    if (!paused || resuming || !driving || performance.now() < blockedUntilMs) return
    resuming = true
    if (state.stop?.latched) await patch('clear_stop')
    await patch('resume')
    blockedUntilMs = performance.now() + SETTLE_MS
    resuming = false
  }, 300)

  async function pause() {
    requested(false)
    await patch('pause')
    await rest(over, random.between(100, 800))
    await patch('resume')
    requested(true)
  }
  async function requestStop() {
    requested(false)
    const requestedAtMs = Date.now()
    const notified = await Promise.race([
      link.stop('chaos').then(
        () => true,
        () => false,
      ),
      rest(over, STOP_LIMIT_MS),
    ])
    evidence.count('stop at the gateway', notified === true ? 'acknowledged' : 'unknown')
    if (notified === true) evidence.stops.push({ sessionId, requestedAtMs, reportedAtMs: Date.now() })
    await rest(over, random.between(100, 1_000))
    await patch('clear_stop')
    await patch('resume')
    requested(true)
  }
  async function stopSending() {
    requested(false)
    await rest(over, random.between(300, 900))
    requested(true)
  }
  async function answerExtension() {
    if (!view.pendingExtensions.has(sessionId)) return await sendChatMessage(context, sessionId)
    await patch(random.chance(0.7) ? 'approve_extension' : 'decline_extension')
  }
  const chat = () => sendChatMessage(context, sessionId)
  const actions = [chat, chat, chat, pause, requestStop, stopSending, answerExtension, answerExtension]

  return {
    open: () => link.connection !== 'closed',
    performAction: () => {
      if (random.chance(0.05)) return readExport(context)
      // An operator who waits for the robot releases control, and says so.
      return robot.isDriven ? random.pick(actions)() : chat()
    },
    rest() {
      clearInterval(control)
      clearInterval(resumer)
      requested(false)
    },
  }
}

/** Ends a session; repeats this until the session is known to be over. */
async function endSession({ rest: api, over }: ActorContext, sessionId: string): Promise<void> {
  const untilMs = performance.now() + END_LIMIT_MS
  while (performance.now() < untilMs) {
    const reply = await api.ask('end', 'PATCH', `/api/sessions/${sessionId}`, { action: 'end' })
    if (reply.outcome !== 'unknown') return
    await rest(over, 400)
    if (over.aborted) return
  }
}
