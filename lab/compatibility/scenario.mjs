// Runs in a folder into which an earlier version of @wheelhouse/sdk is installed: plain JavaScript, with the functions that version
// has. Prints a line for each step, and fails at the first one that does not work.
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const sdkPath = createRequire(`${process.cwd()}/`).resolve('@wheelhouse/sdk')
const sdk = await import(pathToFileURL(sdkPath).href)
const { answerOf, createRestClient, HubClient, ObserverLink, OperatorLink, RobotLink, ticketsOf } = sdk
const { API: baseUrl, HUB: hubUrl, OWNER_KEY, OPERATOR_KEY } = process.env
const LIMIT_MS = 30_000
const PeerConnection = null

const owner = createRestClient({ baseUrl, token: OWNER_KEY })
const operator = createRestClient({ baseUrl, token: OPERATOR_KEY })
const step = (name) => console.log(`ok ${name}`)

/** Waits until a condition holds. */
async function until(what, condition) {
  const startedMs = performance.now()
  while (!(await condition())) {
    if (performance.now() - startedMs > LIMIT_MS) throw new Error(`never: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  step(what)
}

const body = {
  name: 'Rover',
  robot_type: 'rover',
  hardware_id: `rover-${Date.now()}`,
  latency_budget_ms: null,
}
const robot = await answerOf(owner.POST('/api/client/robots', { body }))
step('REST: a robot is registered')

const hub = new HubClient({ url: hubUrl, token: OWNER_KEY })
await hub.connect()
const statuses = new Map()
await hub.watchRobots((update) => {
  const seen = update.kind === 'list' ? update.robots : [update.robot]
  for (const { robot_id, status } of seen) statuses.set(robot_id, status)
})
step('hub: the robots are watched')

const at = { commands: 0, halts: [], cleared: 0, telemetry: 0, events: [], chat: [] }
const link = new RobotLink({
  url: robot.control_url,
  token: robot.robot_token,
  PeerConnection,
  heartbeat: () => ({ battery: 0.8 }),
  onControl: ({ seq }) => {
    at.commands++
    link.ack(seq)
  },
  onStop: ({ reason }) => {
    at.halts.push(reason)
    link.stopped(reason)
  },
  onStopCleared: () => at.cleared++,
})
await link.connect()
step('robot: it connects')
await until('hub: the robot is available', () => statuses.get(robot.id) === 'AVAILABLE')

const offered = await answerOf(operator.GET('/api/operator/available-robots', { params: { query: {} } }))
if (!(offered.robots ?? offered).some(({ id }) => id === robot.id))
  throw new Error('the robot is not offered')
step('REST: the robot is offered to operators')
const { sessionId } = await answerOf(operator.POST('/api/sessions', { body: { robotId: robot.id } }))
step('REST: a session starts')
await hub.watch(sessionId, {
  onEvent: (event) => {
    at.events.push(event.type)
    if (event.message) at.chat.push(event.message.body)
  },
})
const telemetry = () => link.telemetry({ speed: 1 })
const timer = setInterval(telemetry, 50)
const pilot = new OperatorLink({
  getTicket: ticketsOf({ baseUrl, token: OPERATOR_KEY, sessionId, part: 'control' }),
  PeerConnection,
  onTelemetry: () => at.telemetry++,
})
await pilot.connect()
await until('operator: the robot is driven', () => {
  pilot.control({ linear_mps: 0.5 })
  return at.commands > 5
})
await until('operator: telemetry arrives', () => at.telemetry > 2)
let observed = 0
const observer = new ObserverLink({
  getTicket: ticketsOf({ baseUrl, token: OWNER_KEY, sessionId, part: 'watch' }),
  onTelemetry: () => observed++,
})
await observer.connect()
await until('observer: telemetry arrives', () => observed > 2)

await observer.stop('compatibility')
await until('observer: a stop halts the robot', () => at.halts.length > 0)
const params = { path: { id: sessionId } }
await until('REST: the robot has confirmed the stop', async () => {
  const session = await answerOf(owner.GET('/api/sessions/{id}', { params }))
  return session.stop !== null && session.status === 'PAUSED'
})
await answerOf(owner.PATCH('/api/sessions/{id}', { params, body: { action: 'clear_stop' } }))
await answerOf(operator.PATCH('/api/sessions/{id}', { params, body: { action: 'resume' } }))
await until('REST: the stop is cleared, and the session resumes', () => at.cleared > 0)
const before = at.commands
await until('operator: the robot is driven again', () => {
  pilot.control({ linear_mps: 0.5 })
  return at.commands > before
})
await hub.sendChat(sessionId, 'hello')
step('hub: a message is sent')
await answerOf(operator.PATCH('/api/sessions/{id}', { params, body: { action: 'end' } }))
await until('hub: the events of the session arrive', () =>
  at.events.some((type) => /end|complet/i.test(type)),
)
const { sessions } = await answerOf(owner.GET('/api/sessions', { params: { query: {} } }))
if (!sessions.some(({ id, status }) => id === sessionId && status === 'COMPLETED'))
  throw new Error('not listed')
step('REST: the ended session is listed')
clearInterval(timer)
for (const open of [pilot, observer, link, hub]) await open.close()
step('all connections close')
