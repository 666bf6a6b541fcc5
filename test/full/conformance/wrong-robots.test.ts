import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { robotRules } from '../../../packages/cli/conformance/robot-rules.ts'
import { binaryControl, idsWith, testDrivingRobot } from '../../support/conformance/run-kit.ts'

// Robots with one mistake each fail the rule about it.

const robot = fileURLToPath(new URL('../../support/conformance/wrong-robot.ts', import.meta.url))

/** The rules that a mistake violates. Most are one. */
const mistakes: Readonly<Record<string, readonly string[]>> = {
  'first comes without its token': ['connects'],
  'sends heartbeats late': ['heartbeats'],
  'moves before a command': ['idle'],
  'never acknowledges': ['moves'],
  'has no deadman': ['deadman'],
  'obeys expired commands': ['expired'],
  'trusts an age that is no number': ['clock-jumps', 'unreadable'],
  'keeps the clock of an earlier link': ['new-link'],
  'obeys another session': ['other-session'],
  'obeys an earlier holder': ['control-change'],
  'obeys in a paused session': ['paused'],
  'drives on after an unreadable command': ['unreadable'],
  'ignores limits': ['limits'],
  'ignores limits of the welcome': ['limits-welcome'],
  'ignores the order': ['order'],
  'obeys expired binary commands': ['binary'],
  'drives to its goal in spite of cancel_goal': ['goals'],
  'drives to its goal in spite of a command': ['goals'],
  'drives to its goal in spite of a stop': ['goals'],
  'drives to its goal in spite of another holder': ['goals'],
  'drives to late goals': ['goals'],
  'halts slowly': ['stop-time'],
  // Without an answer it cannot be seen whether later ones are honest.
  'never answers a stop': ['stop-answer', 'stop-welcome'],
  'answers before it has halted': ['stop-honest'],
  'answers only the first stop': ['stop-repeated'],
  'obeys under a latched stop': ['stop-latched'],
  'resumes when the stop is cleared': ['stop-cleared'],
  'forgets a stop of the welcome': ['stop-welcome'],
  'dies of malformed text': ['survives'],
  'drives on without a connection': ['connection-lost'],
  'resumes after a reconnect': ['reconnect-still'],
  'never leaves a silent gateway': ['silent-gateway'],
  'obeys its old connection': ['old-connection'],
  'gives up after 4008': ['reconnects'],
  'reconnects in a tight loop': ['backoff'],
  'ignores Retry-After': ['retry-after'],
  'retries after 401': ['refused-for-good'],
  'returns after 4000': ['closed-for-good'],
  'sends NaN': ['finite-numbers'],
  'sends malformed frames': ['well-formed'],
  'sends a frame that is too large': ['frame-limits'],
}

const arm = {
  controls: [1.5, -1.5].map((joint_rad) => ({ joint_rad, clutch: true })),
  still: { joint_rad: 0, clutch: false },
  controlSchema: {
    type: 'object',
    properties: {
      joint_rad: { type: 'number', 'x-max-rate': 0.5 },
      clutch: { type: 'boolean', 'x-clutch': true },
    },
  },
}
const armRules = ['motion-rate', 'clutch', 'stop-time', 'deadman']

test.concurrent.each(Object.entries(mistakes))('a robot that %s', async (mistake, rules) => {
  const command = [process.execPath, robot]
  // Only these rules: that a right robot keeps all of them is another test, and each takes seconds.
  const verdicts = await testDrivingRobot(
    { command, binaryControl, env: { MISTAKE: mistake } },
    { only: rules },
  )
  const failed = idsWith(verdicts, 'failed')
  expect(failed.toSorted(), JSON.stringify(verdicts, null, 1)).toEqual([...rules].toSorted())
})

test.concurrent.each([
  ['keeps every rule', []],
  ['jumps', ['motion-rate']],
  ['ignores the clutch', ['clutch']],
])('an arm that %s', async (mistake, rules) => {
  const command = [process.execPath, robot]
  const verdicts = await testDrivingRobot(
    { command, env: { MISTAKE: mistake, ARM: 'true' }, ...arm },
    { only: armRules },
  )
  expect(idsWith(verdicts, 'failed'), JSON.stringify(verdicts, null, 1)).toEqual(rules)
  expect(idsWith(verdicts, 'not tested')).toEqual([])
})

test('every rule has a robot that violates it', () => {
  const violated = new Set([...Object.values(mistakes).flat(), 'motion-rate', 'clutch'])
  expect(robotRules.map(({ id }) => id).filter((id) => !violated.has(id))).toEqual([])
})
