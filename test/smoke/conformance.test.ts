import { expect, test } from 'vitest'
import { robotPrograms } from '../support/conformance/robot-programs.ts'
import { failuresOf, idsWith, testDrivingRobot } from '../support/conformance/run-kit.ts'

test.each(Object.entries(robotPrograms))(
  '%s keeps the most important rules',
  async (_name, { command, untested, ...settings }) => {
    const verdicts = await testDrivingRobot({ ...settings, command: await command() }, { quick: true })
    expect(failuresOf(verdicts)).toEqual([])
    expect(untested).toEqual(expect.arrayContaining(idsWith(verdicts, 'not tested')))
  },
)
