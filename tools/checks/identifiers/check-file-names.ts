import type { Finding } from '../finding.ts'
import { GENERATED_FILES, type Repository } from '../source/repository.ts'
import { HISTORY } from './allowed-names.ts'
import { bannedPartOf } from './check-identifiers.ts'

const SUFFIXES = ['entity', 'schema', 'service', 'routes', 'view', 'store', 'worker', 'test']
/** Suffixes that are allowed in one folder, or that a tool demands. */
const SPECIAL: readonly { suffix: string; pattern: RegExp }[] = [
  { suffix: 'page', pattern: /^packages\/console\// },
  { suffix: 'config', pattern: /(?:^|\/)(?:vite|vitest|playwright)\.config\.ts$/ },
  { suffix: 'd', pattern: /\.d\.ts$/ },
]
const KEBAB_CASE = /^[a-z0-9]+(?:-[a-z0-9]+)*$/
const MAX_TOP_FOLDERS = 8

/** Checks the names of files and folders: words, kebab-case, one suffix of a closed list, few folders at the top. */
export function checkFileNames(repository: Repository): Finding[] {
  const files = repository.paths.filter((path) => !HISTORY.some((folder) => path.startsWith(folder)))
  return [...files.flatMap(checkName), ...checkFolders(repository.paths)]
}

function checkName(path: string): Finding[] {
  const finding = (rule: string, message: string) => [{ file: path, rule, message }]
  const parts = path.split('/')
  for (const part of parts) {
    const banned = bannedPartOf(part)
    if (banned)
      return finding('banned-file-name', `"${part}" contains "${banned.words}": use ${banned.instead}`)
  }
  if (!/\.(?:tsx?|mjs)$/.test(path) || GENERATED_FILES.has(path)) return []
  const [name = '', ...dotted] = (parts.at(-1) as string).split('.').slice(0, -1)
  if (!KEBAB_CASE.test(name)) return finding('kebab-case', 'write the file name in kebab-case')
  const suffixes = dotted.filter((suffix) => suffix !== 'test')
  const isKnown = (suffix: string) =>
    SUFFIXES.includes(suffix) ||
    SPECIAL.some((special) => special.suffix === suffix && special.pattern.test(path))
  if (suffixes.length > 1 || !suffixes.every(isKnown))
    return finding(
      'file-suffix',
      `".${suffixes.join('.')}" is no known suffix: use one of .${SUFFIXES.join(' .')} (.page in the console), or a hyphen`,
    )
  return []
}

function checkFolders(paths: readonly string[]): Finding[] {
  const top = new Set(
    paths.filter((path) => /^[^./][^/]*\//.test(path)).map((path) => path.split('/')[0] as string),
  )
  const misplaced = paths.filter((path) =>
    /^src\/(?!(?:app|core|media|recorder|web|modules\/[^/]+)\/|main\.ts$)/.test(path),
  )
  return [
    ...(top.size > MAX_TOP_FOLDERS
      ? [
          {
            file: '.',
            rule: 'top-folders',
            message: `${[...top].sort().join(', ')}: at most ${MAX_TOP_FOLDERS} folders at the top`,
          },
        ]
      : []),
    ...misplaced.map((file) => ({
      file,
      rule: 'src-folders',
      message:
        'place the file in src/app, src/core, src/media, src/modules/<module>, src/recorder or src/web',
    })),
  ]
}
