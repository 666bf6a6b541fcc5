import { expect, test } from 'vitest'
import { robotPrograms } from '../support/conformance/robot-programs.ts'
import { failuresOf, idsWith, testDrivingRobot } from '../support/conformance/run-kit.ts'

test.each(Object.entries(robotPrograms))('%s keeps the most important rules', async (_name, { command }) => {
  const verdicts = await testDrivingRobot({ command: await command() }, { quick: true })
  expect(failuresOf(verdicts)).toEqual([])
  expect(idsWith(verdicts, 'not tested')).toEqual([])
})
