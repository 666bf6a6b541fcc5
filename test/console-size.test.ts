import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { beforeAll, expect, test } from 'vitest'
import { ensureConsole } from './support/console.ts'

const built = fileURLToPath(new URL('../console/dist', import.meta.url))
const FIRST_VIEW_BYTES = 250_000

interface Chunk {
  readonly file: string
  readonly imports?: readonly string[]
}

beforeAll(() => ensureConsole())

/** The scripts that a view needs, each once: its own and all that they import at once. */
function scriptsOf(views: readonly string[]): string[] {
  const manifest: Record<string, Chunk> = JSON.parse(readFileSync(join(built, 'manifest.json'), 'utf8'))
  const needed = new Set<string>()
  const add = (name: string): void => {
    const chunk = manifest[name]
    if (!chunk) throw new Error(`${name} is no chunk of the console`)
    if (needed.has(chunk.file)) return
    needed.add(chunk.file)
    for (const other of chunk.imports ?? []) add(other)
  }
  for (const view of views) add(view)
  return [...needed].filter((file) => file.endsWith('.js'))
}

test('the first view of the console is small', () => {
  const sizes = scriptsOf(['index.html', 'src/home/home.page.tsx']).map(
    (file) => [file, gzipSync(readFileSync(join(built, file)), { level: 9 }).length] as const,
  )
  const bytes = sizes.reduce((sum, [, size]) => sum + size, 0)
  expect(bytes).toBeGreaterThan(50_000) // React alone is that much
  expect(bytes, JSON.stringify(sizes)).toBeLessThan(FIRST_VIEW_BYTES)
})
