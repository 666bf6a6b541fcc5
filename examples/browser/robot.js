import { pair } from './pairing.js'
import { createRobot } from './simulated-robot.js'

const METRE_PX = 40
/** A paired robot connects again after a reload of its tab, because its code works once. */
const STORED_ROBOT = 'wheelhouse-robot'

const element = (id) => document.getElementById(id)
const show = (id, text) => {
  element(id).textContent = text
}

let charge

function draw({ x, y, heading }) {
  const room = element('room')
  const wrap = (value, size) => ((value % size) + size) % size
  const left = wrap(room.clientWidth / 2 + x * METRE_PX, room.clientWidth)
  const top = wrap(room.clientHeight / 2 - y * METRE_PX, room.clientHeight)
  element('dot').style.transform = `translate(${left}px, ${top}px) rotate(${-heading}rad)`
  show('pose', `x ${x.toFixed(2)} m, y ${y.toFixed(2)} m, heading ${heading.toFixed(2)} rad`)
}

const robot = createRobot({ show, onStep: draw, battery: () => charge })

/** Keeps the screen on: browsers slow down pages that they do not show. The browser releases the lock with the page. */
async function keepScreenOn() {
  if (!document.hidden) await navigator.wakeLock?.request('screen').catch(() => undefined)
}

function connect() {
  robot.connect(async () => ({ url: element('url').value.trim(), token: element('token').value.trim() }))
  void keepScreenOn()
}

function connectPaired({ name, url, token }) {
  element('url').value = url
  element('token').value = token
  element('connect').hidden = true
  show('name', name)
  document.title = name
  connect()
}

/** Connects with the pairing code in the fragment of the address, which browsers do not send to servers. */
async function connectByCode(code) {
  // The code does not stay in the history.
  history.replaceState(null, '', location.pathname)
  try {
    const paired = await pair(location.origin, code)
    sessionStorage.setItem(STORED_ROBOT, JSON.stringify(paired))
    connectPaired(paired)
  } catch (problem) {
    show('problem', problem.message)
  }
}

async function followBattery() {
  const battery = await navigator.getBattery?.()
  if (!battery) return
  const read = () => {
    charge = battery.level
  }
  battery.addEventListener('levelchange', read)
  read()
}

element('connect').addEventListener('submit', (event) => {
  event.preventDefault()
  connect()
})
element('disconnect').addEventListener('click', () => {
  sessionStorage.removeItem(STORED_ROBOT)
  element('connect').hidden = false
  robot.disconnect()
})
document.addEventListener('visibilitychange', () => {
  if (sessionStorage.getItem(STORED_ROBOT)) void keepScreenOn()
})
void followBattery()

const code = new URLSearchParams(location.hash.slice(1)).get('code')
const stored = sessionStorage.getItem(STORED_ROBOT)
if (code) void connectByCode(code)
else if (stored) connectPaired(JSON.parse(stored))
