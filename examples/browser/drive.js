import { nowMs, openLink } from './link.js'

const SEND_EVERY_MS = 50
const PING_EVERY_MS = 1_000
const LINEAR_MPS = 0.6
const ANGULAR_RADPS = 1.2
/** Without a confirmation of the gateway after this time, the page also sends the stop over REST. */
const STOP_CONFIRM_MS = 1_000
/** Contribution of each key: [forward, left]. */
const KEYS = {
  ArrowUp: [1, 0],
  KeyW: [1, 0],
  ArrowDown: [-1, 0],
  KeyS: [-1, 0],
  ArrowLeft: [0, 1],
  KeyA: [0, 1],
  ArrowRight: [0, -1],
  KeyD: [0, -1],
}

const element = (id) => document.getElementById(id)
// Always textContent: other users write names, reasons and telemetry.
const show = (id, text) => {
  element(id).textContent = text
}

const held = new Set()
let link = null
let part = 'control'
let seq = 0
let acknowledged = 0
let ownPingMs = null
let latched = false
/** Whether the gateway has reported a latched stop since the last request for one. */
let stopConfirmed = false
/** After the first key, the page sends commands continuously, also zeros, so that the deadman does not stop the robot. */
let driving = false

/** Calls the REST API with the entered credential. An error is final if a repetition would fail too. */
async function call(method, path, body) {
  const response = await fetch(`${element('api').value.replace(/\/$/, '')}${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${element('credential').value.trim()}`,
      'Content-Type': 'application/json',
    },
    body: JSON.stringify(body),
  })
  const answer = await response.json()
  if (response.ok) return answer
  const { status } = response
  // Transient: 409 (the robot is offline or the session is over), 429 and 5xx.
  const final = status < 500 && status !== 429 && status !== 409
  throw Object.assign(new Error(`${status} ${answer.error}`), { final })
}

const sessionPath = () => `/api/sessions/${encodeURIComponent(element('session').value.trim())}`

/** Returns a new ticket, or the pasted one. A ticket is valid for one connection. */
async function admission() {
  if (element('credential').value !== '') {
    const { url, ticket } = await call('POST', `${sessionPath()}/ticket`, { part })
    return { url, token: ticket }
  }
  const token = element('ticket').value.trim()
  element('ticket').value = ''
  if (token === '') throw Object.assign(new Error('enter a new ticket'), { final: true })
  return { url: element('url').value.trim(), token }
}

function onFrame(frame) {
  if (frame.type === 'state') {
    show('status', frame.status)
    show('robot', frame.robot_connected ? 'connected' : 'offline')
    const { stop } = frame
    latched = stop?.latched === true
    stopConfirmed ||= latched
    const kind = stop?.latched ? 'latched, until it is cleared' : 'until the next command'
    show('in-force', stop ? `${stop.reason} (${kind}${stop.recorded ? '' : ', not recorded yet'})` : 'none')
  } else if (frame.type === 'telemetry') {
    const pose = frame.data?.pose
    if (pose) show('pose', `x ${pose.x_m} m, y ${pose.y_m} m, heading ${pose.heading_rad} rad`)
    show('telemetry', JSON.stringify(frame.data, null, 1).slice(0, 2_000))
  } else if (frame.type === 'latency') {
    const ms = (value) => (value === null ? '?' : `${Math.round(value)} ms`)
    show('latency', `you ${ms(frame.operator_ms)}, robot ${ms(frame.robot_ms)}, own ping ${ms(ownPingMs)}`)
  } else if (frame.type === 'ack') {
    acknowledged = frame.seq
    show('commands', `sent ${seq}, obeyed ${acknowledged}`)
  } else if (frame.type === 'dropped') {
    show('commands', `sent ${seq}, obeyed ${acknowledged}; ${frame.seq} dropped: ${frame.why}`)
  } else if (frame.type === 'pong') {
    ownPingMs = nowMs() - frame.t
  } else if (frame.type === 'error') {
    show('problem', frame.message)
  }
}

/** Sends one command for the held keys. */
function command() {
  if (!driving || part !== 'control' || !link) return
  const [forward, left] = [...held].reduce(([f, l], key) => [f + KEYS[key][0], l + KEYS[key][1]], [0, 0])
  const clamp = (value) => Math.max(-1, Math.min(1, value))
  const data = { linear_mps: clamp(forward) * LINEAR_MPS, angular_radps: clamp(left) * ANGULAR_RADPS }
  link.send({ type: 'control', seq: ++seq, t: nowMs(), data })
}

/** Releases the controls: sends one last zero, then no more commands. */
function release() {
  held.clear()
  command()
  driving = false
}

async function stop() {
  release()
  const reason = 'stopped from the page'
  stopConfirmed = latched
  if (link?.send({ type: 'stop', reason })) {
    // The connection may be dead without a close event yet.
    await new Promise((resolve) => setTimeout(resolve, STOP_CONFIRM_MS))
    if (stopConfirmed) return // even if the stop has been cleared since
  }
  // REST takes longer and needs a credential.
  await performAction('emergency_stop', reason)
}

async function performAction(action, reason) {
  try {
    await call('PATCH', sessionPath(), { action, ...(reason && { reason }) })
    show('problem', '')
  } catch (problem) {
    show('problem', `${action}: ${problem.message}`)
  }
}

element('connect').addEventListener('submit', (event) => {
  event.preventDefault()
  link?.close()
  part = new FormData(event.target).get('part')
  document.activeElement?.blur()
  show('problem', '')
  link = openLink({ admission, onFrame, onState: (state) => show('connection', state) })
})
element('disconnect').addEventListener('click', () => {
  release()
  link?.close()
  link = null
})
element('stop').addEventListener('click', stop)
element('clear').addEventListener('click', () => performAction('clear_stop'))
element('resume').addEventListener('click', () => performAction('resume'))

const isTyping = (event) => event.target instanceof HTMLInputElement && event.target.type !== 'radio'
addEventListener('keydown', (event) => {
  if (event.code === 'Escape' || (event.code === 'Space' && !isTyping(event))) {
    event.preventDefault()
    if (!event.repeat) stop()
  } else if (KEYS[event.code] && !isTyping(event) && !event.ctrlKey && !event.metaKey) {
    event.preventDefault()
    if (event.repeat) return
    held.add(event.code)
    driving = true
    command()
  }
})
addEventListener('keyup', (event) => {
  if (held.delete(event.code)) command()
})
// A page without focus must not drive: it gets no keyup, and browsers slow down its timers.
addEventListener('blur', release)
document.addEventListener('visibilitychange', () => {
  if (document.hidden) release()
})
setInterval(command, SEND_EVERY_MS)
setInterval(() => link?.send({ type: 'ping', t: nowMs() }), PING_EVERY_MS)
