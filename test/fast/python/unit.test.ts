import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { PYTHONPATH } from '../../support/examples/example-robots.ts'
import { python } from '../../support/programs/external-programs.ts'

// The tests of the package for Python, packages/python/tests, which run without a network.

test('the tests in Python pass', async () => {
  const discover = ['-m', 'unittest', 'discover', '--top-level-directory', '.', '--start-directory', 'tests']
  const { stderr } = await promisify(execFile)(await python(), ['-B', '-W', 'error', ...discover], {
    cwd: PYTHONPATH,
  })
  expect(stderr).toMatch(/Ran [1-9]\d* tests/)
  expect(stderr).toMatch(/\nOK/)
})
