import { expect, test } from 'vitest'
import { failedFilesOf } from './failed-files-reporter.ts'

const module = (relativeModuleId: string, isOk: boolean) => ({ relativeModuleId, ok: () => isOk })

test('names each file in which a test failed or an error was not handled, once', () => {
  const modules = [module('test/a.test.ts', true), module('test/b.test.ts', false)]
  const errors = [
    { message: 'closed', VITEST_TEST_PATH: '/project/test/b.test.ts' },
    { message: 'closed', VITEST_TEST_PATH: '/project/test/c.test.ts' },
    { message: 'no PostgreSQL' },
  ]
  expect(failedFilesOf(modules, errors, '/project')).toEqual({
    files: ['test/b.test.ts', 'test/c.test.ts'],
    otherErrors: 1,
  })
})
