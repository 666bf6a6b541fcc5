import { OperatorLink, ticketsOf } from '@wheelhouse/sdk'
import { readExport } from './exports.ts'
import type { PlayedRobot } from './robot.ts'
import { rest, type Scene } from './scene.ts'
import { talk } from './talk.ts'

/** How often a robot is chosen that nobody drives; else any of them, so that some ask for the same. */
const FREE_SHARE = 0.8
const SESSION_S = [6, 25] as const
const ACT_EVERY_MS = [400, 2_500] as const
const END_LIMIT_MS = 60_000
const SETTLE_MS = 1_000

/** An operator who takes a robot, drives it, does what operators do, ends, and takes the next, until it is over. */
export async function playOperator(scene: Scene, robots: readonly PlayedRobot[]): Promise<void> {
  while (!scene.over.aborted) {
    const free = robots.filter((robot) => !robot.isWanted)
    const robot = scene.random.pick(free.length > 0 && scene.random.chance(FREE_SHARE) ? free : robots)
    const sessionId = await startSession(scene, robot)
    if (sessionId !== null) await drive(scene, robot, sessionId)
    await rest(scene.over, scene.random.between(200, 1_500))
  }
}

/** Starts a session; null when that came to nothing. One that is open unawares is ended, so that the next can begin. */
export async function startSession(
  { rest, person, evidence, view }: Scene,
  robot: PlayedRobot,
): Promise<string | null> {
  const asked = { operatorId: person.id, robotId: robot.cast.id, sessionId: null as string | null }
  evidence.starts.push(asked)
  const reply = await rest.post('start', '/api/sessions', { robotId: robot.cast.id })
  if (reply.outcome === 'kept') asked.sessionId = 'kept'
  if (reply.outcome === 'acknowledged') {
    asked.sessionId = String(reply.body.sessionId)
    view.watch(asked.sessionId)
    return asked.sessionId
  }
  if (reply.outcome === 'refused' && reply.settled) evidence.starts.splice(evidence.starts.indexOf(asked), 1)
  if (!reply.error.includes('already has an open session') && reply.outcome !== 'kept') return null
  for (const status of ['ACTIVE', 'PAUSED']) {
    const list = await rest.ask('list', 'GET', `/api/sessions?status=${status}`)
    const sessions = (list.body.sessions ?? []) as { id: string }[]
    for (const { id } of sessions) await rest.ask('end', 'PATCH', `/api/sessions/${id}`, { action: 'end' })
  }
  return null
}

/** One session, from the first control frame until it is over. */
async function drive(scene: Scene, robot: PlayedRobot, sessionId: string): Promise<void> {
  const { random, over, baseUrl, person, Socket } = scene
  const link = new OperatorLink({
    getTicket: ticketsOf({ baseUrl, token: person.apiKey, sessionId, part: 'control' }),
    reconnect: { baseMs: 100, maxMs: 1_500 },
    WebSocket: Socket,
    onError: () => {}, // tickets that cannot be had while things are down
  })
  link.connect().catch(() => {}) // the session may be over before
  const shift = createShift(scene, robot, link, sessionId)
  const untilMs = performance.now() + random.between(...SESSION_S) * 1_000
  while (performance.now() < untilMs && !over.aborted && shift.open()) {
    await rest(over, random.between(...ACT_EVERY_MS))
    if (shift.open() && !over.aborted) await shift.act()
  }
  shift.rest()
  await endSession(scene, sessionId)
  await link.close()
}

function createShift(scene: Scene, robot: PlayedRobot, link: OperatorLink, sessionId: string) {
  const { random, rest: api, evidence, view, over } = scene
  let driving = true
  let holdUntilMs = 0
  const path = `/api/sessions/${sessionId}`
  const patch = (action: string) => api.ask(action, 'PATCH', path, { action })
  const wish = (value: boolean) => {
    driving = value
    robot.wanted(value)
  }
  wish(true)
  const turn = random.between(-1, 1)
  const control = setInterval(
    () => driving && link.control({ linear_mps: 0.4, angular_radps: turn }),
    Math.round(1_000 / random.between(20, 50)),
  )
  /** Whatever paused the session, its operator resumes it; a stop of others is cleared after a moment's look. */
  let resuming = false
  const resumer = setInterval(async () => {
    const state = link.state
    const paused = link.connection === 'online' && state?.status === 'PAUSED' && state.robot_connected
    if (!paused || resuming || !driving || performance.now() < holdUntilMs) return
    resuming = true
    if (state.stop?.latched) await patch('clear_stop')
    await patch('resume')
    holdUntilMs = performance.now() + SETTLE_MS
    resuming = false
  }, 300)

  async function pause() {
    wish(false)
    await patch('pause')
    await rest(over, random.between(100, 800))
    await patch('resume')
    wish(true)
  }
  async function pressStop() {
    wish(false)
    const pressedAtMs = Date.now()
    const told = await Promise.race([
      link.stop('chaos').then(
        () => true,
        () => false,
      ),
      rest(over, 5_000),
    ])
    evidence.count('stop at the gateway', told === true ? 'acknowledged' : 'unknown')
    if (told === true) evidence.stops.push({ sessionId, pressedAtMs, toldAtMs: Date.now() })
    await rest(over, random.between(100, 1_000))
    await patch('clear_stop')
    await patch('resume')
    wish(true)
  }
  async function fallSilent() {
    wish(false)
    await rest(over, random.between(300, 900))
    wish(true)
  }
  async function answerExtension() {
    if (!view.asked.has(sessionId)) return await talk(scene, sessionId)
    await patch(random.chance(0.7) ? 'approve_extension' : 'decline_extension')
  }
  const say = () => talk(scene, sessionId)
  const acts = [say, say, say, pause, pressStop, fallSilent, answerExtension, answerExtension]

  return {
    open: () => link.connection !== 'closed',
    act: () => {
      if (random.chance(0.05)) return readExport(scene)
      // Who waits for the robot to move again lets it be, and says so.
      return robot.isDriven ? random.pick(acts)() : say()
    },
    rest() {
      clearInterval(control)
      clearInterval(resumer)
      wish(false)
    },
  }
}

/** Ends a session and goes on until it is known to be over. */
async function endSession({ rest: api, over }: Scene, sessionId: string): Promise<void> {
  const untilMs = performance.now() + END_LIMIT_MS
  while (performance.now() < untilMs) {
    const reply = await api.ask('end', 'PATCH', `/api/sessions/${sessionId}`, { action: 'end' })
    if (reply.outcome !== 'unknown') return
    await rest(over, 400)
    if (over.aborted) return
  }
}
