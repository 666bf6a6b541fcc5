import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { SourceFile } from './source-file.ts'

const IGNORED_FOLDERS = new Set([
  '.git',
  'node_modules',
  '.data',
  'dist',
  'dist-new',
  'coverage',
  'generated',
])
const IGNORED_FILES = new Set(['.git', '.env', 'package-lock.json'])

/** Written by programs: `npm run openapi`. */
const GENERATED_FILES: ReadonlySet<string> = new Set(['packages/sdk/rest-types.d.ts', 'docs/openapi.json'])

const TEXT = /(?:\.(?:tsx?|mjs|js|json|md|ya?ml|cfg|py|html|css|svg|sh)|^[^.]+|^\.\w+)$/

/** The files of one checkout. Reads each file once and parses it once. */
export class Repository {
  /** Paths relative to the root, with `/` on every platform. */
  readonly paths: readonly string[]
  readonly #texts = new Map<string, string>()
  readonly #sources = new Map<string, SourceFile>()
  readonly #read: (path: string) => string

  constructor(paths: readonly string[], read: (path: string) => string) {
    this.paths = paths
    this.#read = read
  }

  /** Lists the files below a folder; generated files and installed packages are left out. */
  static open(root: string): Repository {
    return new Repository(list(root, root), (path) => readFileSync(join(root, path), 'utf8'))
  }

  /** Builds a repository in memory, for tests of the checks. */
  static of(files: Readonly<Record<string, string>>): Repository {
    return new Repository(Object.keys(files), (path) => files[path] ?? '')
  }

  text(path: string): string {
    const known = this.#texts.get(path)
    if (known !== undefined) return known
    const text = this.#read(path)
    this.#texts.set(path, text)
    return text
  }

  /** Returns the parsed form of a TypeScript or JavaScript file. */
  source(path: string): SourceFile {
    const known = this.#sources.get(path)
    if (known) return known
    const source = new SourceFile(path, this.text(path))
    this.#sources.set(path, source)
    return source
  }

  /** Returns the parsed TypeScript and JavaScript files below the given folders, or all of them. */
  sources(...folders: string[]): SourceFile[] {
    return this.paths
      .filter((path) => /\.(?:tsx?|mjs)$/.test(path) && !GENERATED_FILES.has(path))
      .filter((path) => folders.length === 0 || folders.some((folder) => path.startsWith(`${folder}/`)))
      .map((path) => this.source(path))
  }

  /** Returns the paths of the files that contain text. */
  textFiles(): string[] {
    return this.paths.filter((path) => TEXT.test(path.split('/').at(-1) ?? ''))
  }
}

function list(root: string, folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return IGNORED_FOLDERS.has(entry.name) ? [] : list(root, path)
    if (!entry.isFile() || IGNORED_FILES.has(entry.name) || entry.name.endsWith('.log')) return []
    return [relative(root, path).split(sep).join('/')]
  })
}
