// A simulated robot in the terminal, without packages: node robot.js
//
// It asks for a pairing code, which the console shows on the page of a robot, and stores the robot's token in this folder for
// the next start. PAIRING_CODE replaces the question; CONTROL_URL and ROBOT_TOKEN replace the pairing.
import { readFile, writeFile } from 'node:fs/promises'
import { createInterface } from 'node:readline/promises'
import { pair } from '../browser/pairing.js'
import { createRobot } from '../browser/simulated-robot.js'

const DEFAULT_PLATFORM = 'http://localhost:3000'
const STORED_ROBOT = 'wheelhouse-robot.json'

const { CONTROL_URL, ROBOT_TOKEN, PAIRING_CODE, WHEELHOUSE_URL = DEFAULT_PLATFORM } = process.env

function fail(problem) {
  console.error(problem)
  process.exit(1)
}

/** Asks for the code, so that it is neither in the history of the shell nor in the list of processes. */
async function askForCode() {
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  const ended = new Promise((_, reject) => {
    terminal.once('close', () => reject(new Error('No pairing code was entered.')))
  })
  try {
    return await Promise.race([terminal.question('Pairing code, from the console: '), ended])
  } finally {
    terminal.close()
  }
}

/** Returns `{name, url, token}` of the environment, of an earlier pairing, or of a new one. */
async function findRobot() {
  if (CONTROL_URL && ROBOT_TOKEN) return { name: 'The robot', url: CONTROL_URL, token: ROBOT_TOKEN }
  const stored = await readFile(STORED_ROBOT, 'utf8').catch(() => undefined)
  if (stored && !PAIRING_CODE) return JSON.parse(stored)
  const paired = await pair(WHEELHOUSE_URL, PAIRING_CODE ?? (await askForCode()))
  await writeFile(STORED_ROBOT, JSON.stringify(paired), { mode: 0o600 })
  console.log(`Paired with ${paired.name}. The next start needs no code: ${STORED_ROBOT} has the token.`)
  return paired
}

if (typeof WebSocket === 'undefined') fail('This program needs Node 22 or newer.')
const { name, url, token } = await findRobot().catch((problem) => fail(problem.message))

const shown = new Map()
const robot = createRobot({
  show(state, text) {
    if (shown.get(state) === text) return
    shown.set(state, text)
    if (state === 'connection') console.log(text === 'connected' ? `${name} is connected` : text)
    else if (text !== 'none') console.log(`${state}: ${text}`)
  },
})
robot.connect(async () => ({ url, token }))
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    robot.close()
    process.exit(0)
  })
}
