import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { serviceUrl } from '../../support/runner/service-url.ts'

test('the rows of a finished query do not survive in the heap', async () => {
  const program = ['test/support/database/repeat-query.ts', serviceUrl('databaseUrl')]
  const { stdout } = await promisify(execFile)(process.execPath, program)
  const [, ...growthsKb] = JSON.parse(stdout) as number[]
  // The first queries compile code. A query has about 10 kB of rows.
  expect(growthsKb.filter((kb) => kb > 1.5)).toEqual([])
})
