import { beforeAll, expect, test } from 'vitest'
import { FIRST_VIEW_LIMIT_BYTES, firstViewScripts } from '../../../tools/bench/console/first-view.ts'
import { ensureConsole } from '../../support/browser/console.ts'

beforeAll(() => ensureConsole())

test('the scripts of the first view stay below the limit', () => {
  const sizes = firstViewScripts()
  const bytes = sizes.reduce((sum, [, size]) => sum + size, 0)
  expect(bytes).toBeGreaterThan(50_000) // React exceeds this, so a smaller sum means missing files
  expect(bytes, JSON.stringify(sizes)).toBeLessThan(FIRST_VIEW_LIMIT_BYTES)
})
