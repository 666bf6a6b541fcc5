import { WebSocket } from 'ws'

// A robot on bare `ws` that keeps every duty of docs/protocol-robot.md, except for the mistake that MISTAKE names.
// Its speed follows the command with a ramp; with ARM it has a joint instead, with x-max-rate and a clutch.

const { CONTROL_URL = '', ROBOT_TOKEN = '', MISTAKE: mistake = '', ARM: isArm } = process.env
const makes = (name: string) => mistake === name

interface Command {
  readonly seq: number
  readonly t: number
  readonly ttl_ms: number
  readonly session_id: string
  readonly epoch?: number
  readonly data: unknown
  readonly order?: number
  readonly after?: number
}
type Frame = Record<string, unknown> & { readonly type?: unknown }

const STEP_S = 0.01
const TELEMETRY_MS = 20
const RAMP_PER_S = 2
const MAX_MPS = 1
const MAX_RATE = 0.5
const SMOOTHING = 0.1
const GOAL_MPS = 0.3
const GATEWAY_WAIT_MS = 10_000
const FINAL_STATUSES = new Set(makes('retries after 401') ? [] : [401, 403, 404])
const RETRY_CODES = new Set([1006, 4500, 4503, 4009])
if (!makes('gives up after 4008')) RETRY_CODES.add(4008)
if (makes('returns after 4000')) RETRY_CODES.add(4000)

let socket: WebSocket | undefined
let session: { session_id: string; status: string } | null = null
let epoch = 1
let deadmanMs = 0
let latched = false
let unanswered: string | undefined
let scale = 1
let speed = 0
let brakePerS = RAMP_PER_S
/** The target of the joint, and where it is. */
let joint = 0
let target = 0
let reference: number | undefined
let passedMs = 0
let command: number | null = null
let lastCommand: number | null = null
let commandedMs = 0
let smallestMs: number | undefined
let lastSeq = -1
let lastOrder = 0
let lastLatch = 0
let connections = 0
let samples = 0
let failures = 0
let creepUntilMs = 0
let goal: { goal_id: string; status: string; x: number; y: number; heading: number } | null = null

const nowMs = () => performance.now()
const clamp = (value: number, limit: number) => Math.max(-limit, Math.min(limit, value))
const send = (frame: Frame | string, to = socket) => {
  if (to?.readyState === WebSocket.OPEN) to.send(typeof frame === 'string' ? frame : JSON.stringify(frame))
}

function reportGoal(): void {
  const mode = goal?.status === 'active' ? 'autonomous' : 'manual'
  if (!isArm) send({ type: 'autonomy', mode, goal_frame: 'odom', goal })
}

function endGoal(cause: string): void {
  if (goal?.status !== 'active' || makes(`drives to its goal in spite of ${cause}`)) return
  goal = { ...goal, status: 'canceled' }
  reportGoal()
}

function onGoal(frame: Command & NonNullable<typeof goal>): void {
  const isOurs = session?.status === 'ACTIVE' && frame.session_id === session.session_id
  const isLate = ageMs(frame) > frame.ttl_ms && !makes('drives to late goals')
  if (!isOurs || isLate || latched || (frame.epoch ?? 1) < epoch) return
  const { goal_id, x, y, heading } = frame
  goal = { goal_id, status: 'active', x, y, heading }
  command = null
  unanswered = undefined
  reportGoal()
}

function brake(cause = 'a stop'): void {
  endGoal(cause)
  if (command !== null) lastCommand = command
  command = null
  target = joint
}

function onStop(reason: string, isLatched: boolean, inWelcome = false): void {
  const wasLatched = latched
  brake()
  if (makes('halts slowly')) brakePerS = 0.15
  if (inWelcome ? !makes('forgets a stop of the welcome') : !makes('obeys under a latched stop'))
    latched ||= isLatched
  if (makes('answers before it has halted')) return send({ type: 'stopped', reason })
  if (makes('never answers a stop') || (makes('answers only the first stop') && wasLatched)) return
  unanswered = reason
}

/** Returns the age of a command; NaN if it cannot be computed. */
function ageMs({ seq, t }: Command): number {
  if (seq <= lastSeq && !makes('keeps the clock of an earlier link')) smallestMs = undefined
  lastSeq = seq
  const offset = nowMs() - t
  if (!Number.isFinite(offset) && !makes('trusts an age that is no number')) return Number.NaN
  smallestMs = smallestMs === undefined || !(smallestMs <= offset) ? offset : smallestMs
  return offset - smallestMs
}

function onControl(frame: Command): void {
  if (frame.order !== undefined && !makes('ignores the order')) {
    if (frame.order <= lastOrder || (frame.after ?? 0) > 0) return
    lastOrder = frame.order
  }
  const speeds = frame.data as { linear_mps?: unknown; joint_rad?: unknown; clutch?: unknown } | null
  const wanted = isArm ? speeds?.joint_rad : speeds?.linear_mps
  const age = ageMs(frame)
  const isReadable = typeof frame.ttl_ms === 'number' && typeof frame.session_id === 'string'
  if (
    !isReadable ||
    !Number.isFinite(wanted) ||
    (Number.isNaN(age) && !makes('trusts an age that is no number'))
  ) {
    if (!makes('drives on after an unreadable command')) brake()
    return
  }
  if ((frame.epoch ?? 1) < epoch && !makes('obeys an earlier holder')) return
  if (age > frame.ttl_ms && !makes('obeys expired commands')) return
  if (latched || session === null) return
  if (session.status !== 'ACTIVE' && !makes('obeys in a paused session')) return
  if (frame.session_id !== session.session_id && !makes('obeys another session')) return
  endGoal('a command')
  if (isArm) moveJoint(Number(wanted), speeds?.clutch === true)
  command = Number(wanted)
  commandedMs = nowMs()
  brakePerS = RAMP_PER_S
  unanswered = undefined
  if (!makes('never acknowledges')) send({ type: 'ack', seq: frame.seq })
}

/** Limits a command of the joint; see the motion limits of control schemas. */
function moveJoint(wanted: number, isEngaged: boolean): void {
  const elapsedS = Math.min(0.1, (nowMs() - passedMs) / 1000)
  passedMs = nowMs()
  reference ??= joint
  if (isEngaged || makes('ignores the clutch')) {
    const step = MAX_RATE * scale * elapsedS
    reference = makes('jumps') ? wanted : reference + clamp(wanted - reference, step)
  }
  target = reference
}

/** The ends of latched stops may be overtaken by later stops, so both are only compared with each other. */
function isNewLatch(frame: Frame): boolean {
  const order = Number(frame.order ?? Number.POSITIVE_INFINITY)
  if (order <= lastLatch) return false
  if (Number.isFinite(order)) lastLatch = order
  return true
}

function onFrame(text: string): void {
  let frame: Frame
  try {
    frame = JSON.parse(text)
  } catch (cause) {
    if (makes('dies of malformed text')) throw cause
    return brake()
  }
  if (typeof frame !== 'object' || frame === null) return brake()
  if (frame.type === 'control') onControl(frame as unknown as Command)
  else if (frame.type === 'goal') onGoal(frame as unknown as Parameters<typeof onGoal>[0])
  else if (frame.type === 'cancel_goal') endGoal('cancel_goal')
  else if (frame.type === 'session') {
    const next = frame as unknown as NonNullable<typeof session>
    if (next.session_id !== session?.session_id) {
      smallestMs = undefined
      scale = 1
      epoch = 1
    }
    session = next.status === 'COMPLETED' ? null : next
    if (session?.status !== 'ACTIVE' && !(session && makes('obeys in a paused session'))) brake()
  } else if (frame.type === 'lease') {
    epoch = Number(frame.epoch)
    smallestMs = undefined
    brake('another holder')
  } else if (frame.type === 'limits' && !makes('ignores limits')) scale = Number(frame.speed_scale)
  else if (frame.type === 'stop') {
    if (frame.latched !== true || isNewLatch(frame)) onStop(String(frame.reason), frame.latched === true)
  } else if (frame.type === 'channel_available') send({ type: 'channel_offer', sdp: 'v=0' })
  else if (frame.type === 'stop_cleared' && isNewLatch(frame)) {
    latched = false
    if (!makes('resumes when the stop is cleared')) return
    command = lastCommand
    commandedMs = nowMs()
  }
}

function onBinary(frame: Buffer): void {
  if (frame.length !== 24 || frame[0] !== 1 || session === null) return
  const { session_id } = session
  const ttl_ms = makes('obeys expired binary commands') ? 60_000 : frame.readUInt16BE(2)
  const data = { linear_mps: frame.readFloatBE(16) }
  onControl({ session_id, seq: frame.readUInt32BE(4), t: frame.readDoubleBE(8), ttl_ms, data })
}

function onWelcome(welcome: Frame): NodeJS.Timeout {
  const own = socket
  session = welcome.session as typeof session
  deadmanMs = Number(welcome.deadman_ms)
  smallestMs = undefined
  lastOrder = lastLatch = failures = 0
  const limits = welcome.limits as { speed_scale: number } | undefined
  scale = makes('ignores limits of the welcome') ? 1 : (limits?.speed_scale ?? 1)
  latched = false
  const stop = welcome.stop as { reason: string; latched: boolean } | null
  if (stop) onStop(stop.reason, stop.latched, true)
  else if (makes('moves before a command') && ++connections === 1) creepUntilMs = nowMs() + 600
  sample()
  reportGoal()
  if (makes('resumes after a reconnect') && lastCommand !== null) {
    setTimeout(() => {
      command = lastCommand
      commandedMs = nowMs()
    }, 2 * TELEMETRY_MS)
  }
  let seq = 0
  const beat = () => send({ type: 'heartbeat', seq: makes('sends malformed frames') ? 'one' : seq++ }, own)
  beat()
  if (makes('sends a frame that is too large')) send({ type: 'telemetry', data: 'x'.repeat(70_000) })
  return setInterval(beat, Number(welcome.heartbeat_interval_ms) * (makes('sends heartbeats late') ? 5 : 1))
}

function sample(): void {
  const velocity = isArm ? { joint: jointSpeed } : { linear_mps: speed }
  const pose = { x_m: 0, y_m: 0, heading_rad: 0 }
  const text = JSON.stringify({ type: 'telemetry', data: { velocity, pose } })
  send(makes('sends NaN') && ++samples % 5 === 0 ? text.replace('"data":{', '"data":{"battery":NaN,') : text)
}

let jointSpeed = 0
let steppedMs = nowMs()
function step(): void {
  const elapsedS = (nowMs() - steppedMs) / 1000
  steppedMs = nowMs()
  const isAutonomous = goal?.status === 'active'
  if (!isAutonomous && nowMs() - commandedMs > deadmanMs + 100 && !makes('has no deadman')) brake()
  const creep = nowMs() < creepUntilMs ? 0.1 : 0
  const wanted = isArm ? 0 : clamp(isAutonomous ? GOAL_MPS : (command ?? creep), MAX_MPS * scale)
  speed += clamp(wanted - speed, (command === null && !isAutonomous ? brakePerS : RAMP_PER_S) * STEP_S)
  const move = clamp(target - joint, (makes('jumps') ? 10 : 1) * STEP_S)
  joint += move
  if (elapsedS > 0) jointSpeed += SMOOTHING * (move / elapsedS - jointSpeed) // as an encoder measures it
  if (unanswered !== undefined && Math.abs(speed) < 0.001 && Math.abs(move) < 0.0001) {
    send({ type: 'stopped', reason: unanswered })
    unanswered = undefined
  }
}

function retry(atLeastMs: number, isRefused: boolean): void {
  const ceilingMs = Math.min(10_000, 250 * 2 ** failures++)
  const delayMs = isRefused && makes('reconnects in a tight loop') ? 0 : Math.random() * ceilingMs
  setTimeout(connect, atLeastMs + delayMs)
}

function connect(): void {
  const withToken = !makes('first comes without its token') || connections++ > 0
  const own = new WebSocket(
    CONTROL_URL,
    withToken ? { headers: { Authorization: `Bearer ${ROBOT_TOKEN}` } } : {},
  )
  socket = own
  let beats: NodeJS.Timeout | undefined
  let silenceMs = GATEWAY_WAIT_MS
  const giveUp = () => {
    if (makes('never leaves a silent gateway')) return
    if (!makes('obeys its old connection')) return own.terminate()
    lost(1006)
  }
  let silence = setTimeout(giveUp, silenceMs)
  let isOver = false
  function lost(code: number): void {
    if (isOver) return
    isOver = true
    clearTimeout(silence)
    clearInterval(beats)
    if (!makes('drives on without a connection')) brake()
    unanswered = undefined
    if (!RETRY_CODES.has(code)) process.exit(1)
    retry(0, false)
  }
  own.on('unexpected-response', (_request, response) => {
    isOver = true
    clearTimeout(silence)
    own.on('error', () => {})
    own.terminate()
    if (FINAL_STATUSES.has(response.statusCode ?? 0) && withToken) process.exit(1)
    const waitS = makes('ignores Retry-After') ? 0 : Number(response.headers['retry-after'] ?? 0)
    retry(waitS * 1_000, true)
  })
  own.on('error', () => {})
  own.on('close', lost)
  own.on('message', (data, isBinary) => {
    clearTimeout(silence)
    if (isOver && !makes('obeys its old connection')) return
    if (!isOver) silence = setTimeout(giveUp, silenceMs)
    if (isBinary) return onBinary(data as Buffer)
    if (beats) return onFrame(String(data))
    const welcome = JSON.parse(String(data)) as Frame
    silenceMs = Number(welcome.heartbeat_timeout_ms)
    beats = onWelcome(welcome)
  })
}

setInterval(step, STEP_S * 1_000)
setInterval(sample, TELEMETRY_MS)
connect()
