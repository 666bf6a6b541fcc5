import { readFileSync } from 'node:fs'
import { brotliCompressSync, constants } from 'node:zlib'

const built = new URL('../../../packages/console/dist/', import.meta.url)
/** The chunks that the first view loads: the page itself and the home page. */
const FIRST_VIEW = ['index.html', 'src/home/home.page.tsx']

export const FIRST_VIEW_LIMIT_BYTES = 250_000

interface Chunk {
  readonly file: string
  readonly imports?: readonly string[]
}

/**
 * Returns the built scripts of the console's first view, each once, with their size under Brotli: browsers accept it over HTTPS and
 * from this machine. The build compresses them with the same quality.
 */
export function firstViewScripts(): (readonly [file: string, brotliBytes: number])[] {
  const manifest: Record<string, Chunk> = JSON.parse(readFileSync(new URL('manifest.json', built), 'utf8'))
  const needed = new Set<string>()
  const add = (name: string): void => {
    const chunk = manifest[name]
    if (!chunk) throw new Error(`The console has no chunk ${name}.`)
    if (needed.has(chunk.file)) return
    needed.add(chunk.file)
    for (const other of chunk.imports ?? []) add(other)
  }
  for (const view of FIRST_VIEW) add(view)
  return [...needed]
    .filter((file) => file.endsWith('.js'))
    .map((file) => [file, brotliBytes(readFileSync(new URL(file, built)))])
}

const brotliBytes = (content: Buffer): number =>
  brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }).length
