import { nowMs, openLink } from './link.js'

const STEP_MS = 20
const TELEMETRY_EVERY_MS = 100
/** Beyond the gateway's own deadman, which is given the first word. */
const WATCHDOG_MARGIN_MS = 100
/** Clocks drift: the smallest offset seen may grow by 0.2 ms a second. */
const CREEP = 0.0002
const METRE_PX = 40
const MAX_LINEAR_MPS = 1
const MAX_ANGULAR_RADPS = 2

const element = (id) => document.getElementById(id)
const show = (id, text) => {
  element(id).textContent = text
}
const round = (value) => Math.round(value * 10_000) / 10_000
const clamp = (value, most) => Math.max(-most, Math.min(most, value))

const pose = { x: 0, y: 0, heading: 0 }
const still = { linear: 0, angular: 0 }
let wanted = still
let wantedAtMs = 0
let link = null
let welcome = null
let session = null
let latched = false
let beats
let smallestMs = null
let smallestAtMs = 0
let lastSeq = -1

/** How much later than usual a frame arrives by its sender's clock. */
function ageMs(seq, t) {
  if (seq <= lastSeq) smallestMs = null // a new link, perhaps another clock
  lastSeq = seq
  const offset = nowMs() - t
  const crept = smallestMs === null ? offset : smallestMs + (nowMs() - smallestAtMs) * CREEP
  smallestMs = Math.min(offset, crept)
  smallestAtMs = nowMs()
  return offset - smallestMs
}

function takeSession(next) {
  if (next?.session_id !== session?.session_id) smallestMs = null
  session = next
  if (session?.status !== 'ACTIVE') wanted = still
  show('session', session ? `${session.status} with ${session.operator_name}` : 'none')
}

function takeStop({ reason, latched: isLatched }) {
  wanted = still
  latched ||= isLatched
  show('in-force', `${reason}${latched ? ' (latched)' : ''}`)
  // This one stands as soon as it wants to. Yours may have to brake before it says so.
  link.send({ type: 'stopped', reason: reason.slice(0, 500) })
}

function takeControl({ session_id, seq, t, ttl_ms, data }) {
  const late = ageMs(seq, t) > ttl_ms
  if (late || latched || session?.status !== 'ACTIVE' || session.session_id !== session_id) return
  const { linear_mps = 0, angular_radps = 0 } = data ?? {}
  if (!Number.isFinite(linear_mps) || !Number.isFinite(angular_radps)) {
    wanted = still // what cannot be read must not keep the last motion alive
    return
  }
  wanted = {
    linear: clamp(linear_mps, MAX_LINEAR_MPS),
    angular: clamp(angular_radps, MAX_ANGULAR_RADPS),
  }
  wantedAtMs = nowMs()
  show('in-force', 'none')
  link.send({ type: 'ack', seq })
}

function onFrame(frame) {
  if (frame.type === 'welcome') {
    welcome = frame
    let seq = 0
    const beat = () => link?.send({ type: 'heartbeat', seq: seq++ })
    clearInterval(beats)
    beats = setInterval(beat, frame.heartbeat_interval_ms)
    link.expectFrames(frame.heartbeat_timeout_ms) // heartbeats are acknowledged
    smallestMs = null // another way through the network
    latched = false // a welcome without a stop: it was cleared while we were away
    show('in-force', 'none')
    takeSession(frame.session)
    if (frame.stop) takeStop(frame.stop)
    beat()
  } else if (frame.type === 'session') takeSession(frame)
  else if (frame.type === 'stop') takeStop(frame)
  else if (frame.type === 'control') takeControl(frame)
  else if (frame.type === 'stop_cleared') {
    latched = false
    show('in-force', 'none')
  }
}

function step() {
  // The watchdog: the gateway's stop may be the very frame that the network has lost.
  if (welcome && nowMs() - wantedAtMs > welcome.deadman_ms + WATCHDOG_MARGIN_MS) wanted = still
  pose.heading += (wanted.angular * STEP_MS) / 1000
  pose.x += (Math.cos(pose.heading) * wanted.linear * STEP_MS) / 1000
  pose.y += (Math.sin(pose.heading) * wanted.linear * STEP_MS) / 1000
  const room = element('room')
  const wrap = (value, size) => ((value % size) + size) % size
  const left = wrap(room.clientWidth / 2 + pose.x * METRE_PX, room.clientWidth)
  const top = wrap(room.clientHeight / 2 - pose.y * METRE_PX, room.clientHeight)
  element('dot').style.transform = `translate(${left}px, ${top}px) rotate(${-pose.heading}rad)`
  show('pose', `x ${pose.x.toFixed(2)} m, y ${pose.y.toFixed(2)} m, heading ${pose.heading.toFixed(2)} rad`)
}

function report() {
  link?.send({
    type: 'telemetry',
    data: {
      pose: { x_m: round(pose.x), y_m: round(pose.y), heading_rad: round(pose.heading) },
      velocity: { linear_mps: wanted.linear, angular_radps: wanted.angular },
      standing: wanted.linear === 0 && wanted.angular === 0,
    },
  })
}

element('connect').addEventListener('submit', (event) => {
  event.preventDefault()
  link?.close()
  const admission = async () => ({ url: element('url').value.trim(), token: element('token').value.trim() })
  link = openLink({
    admission,
    onFrame,
    onState(state) {
      if (state !== 'connected') {
        wanted = still // nobody can stop a robot that is out of reach
        clearInterval(beats)
      }
      show('connection', state)
    },
  })
})
element('disconnect').addEventListener('click', () => {
  link?.close()
  link = null
})
setInterval(step, STEP_MS)
setInterval(report, TELEMETRY_EVERY_MS)
