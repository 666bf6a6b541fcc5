import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { ensureConsole } from '../../support/browser/console.ts'
import { FIRST_VIEW_LIMIT_BYTES, firstViewScripts } from '../../support/browser/first-view.ts'

beforeAll(() => ensureConsole())

test('the scripts of the first view stay below the limit', () => {
  const sizes = firstViewScripts()
  const bytes = sizes.reduce((sum, [, size]) => sum + size, 0)
  expect(bytes).toBeGreaterThan(50_000) // React exceeds this, so a smaller sum means missing files
  expect(bytes, JSON.stringify(sizes)).toBeLessThan(FIRST_VIEW_LIMIT_BYTES)
})

test('the build contains the console only, not the gallery', async () => {
  const folder = fileURLToPath(new URL('../../../packages/console/dist', import.meta.url))
  const files = await readdir(folder, { recursive: true })
  expect(files.filter((file) => file.endsWith('.html')).sort()).toEqual(['index.html', 'replay.html'])
  expect(files.filter((file) => /gallery/.test(file))).toEqual([])
})
