import { expect, test } from 'vitest'
import type { Launcher } from '../../../packages/cli/conformance/program-under-test.ts'
import { robotPrograms } from '../../support/conformance/robot-programs.ts'
import { failuresOf, idsWith, testDrivingRobot } from '../../support/conformance/run-kit.ts'
import { exampleRobots } from '../../support/examples/example-robots.ts'

// Runs the kit on every robot of this repository.

test.each(Object.entries(robotPrograms))(
  '%s keeps every rule',
  async (_name, { command, untested, ...settings }) => {
    const verdicts = await testDrivingRobot({ ...settings, command: await command() })
    expect(failuresOf(verdicts)).toEqual([])
    expect(idsWith(verdicts, 'not tested')).toEqual(untested)
  },
)

/** Returns a launcher of a robot that runs in this process, or in a page. */
const launchHere = (name: string): Launcher => ({
  isManual: false,
  async start({ CONTROL_URL: url = '', ROBOT_TOKEN: token = '' }, onEnd) {
    const robot = await exampleRobots[name]!(async () => ({ url, token }))
    let ended: string | undefined
    robot.gaveUp().then(
      (reason) => {
        ended = reason
        onEnd()
      },
      () => {}, // it was ended
    )
    return {
      get ended() {
        return ended
      },
      output: '',
      end: async () => await robot[Symbol.asyncDispose](),
    }
  },
})

test.each([
  [
    'examples/browser/robot.html',
    ['order', 'binary', 'motion-rate', 'clutch', 'goals', 'retry-after', 'refused-for-good'],
  ],
  ['wheelhouse ros run', ['binary', 'motion-rate', 'clutch', 'goals']],
])('%s keeps every rule', async (name, untested) => {
  const verdicts = await testDrivingRobot({ launcher: launchHere(name) })
  expect(failuresOf(verdicts)).toEqual([])
  expect(idsWith(verdicts, 'not tested')).toEqual(untested)
})
