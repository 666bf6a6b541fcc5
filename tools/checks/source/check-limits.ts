import { posix } from 'node:path'
import type { Finding } from '../finding.ts'
import type { Repository } from './repository.ts'
import { type Node, nameOf, nodesIn, type SourceFile } from './source-file.ts'

export const LIMITS_PAGE = 'docs/limits.md'

const FOLDERS = ['gateway', 'hub', 'src', 'packages/protocol', 'packages/sdk']
/** A limit says so in its name. */
const IS_LIMIT = /(?:^|_)(?:MAX|MIN|LIMITS?|LONGEST|(?<!PER_)TIMEOUT|LIFETIME|RETENTION|KEPT|ATTEMPTS)(?:_|$)/

const INTRODUCTION = `# Limits

Every queue, map, frame and wait has a limit. At the limit the platform drops data that may be lost, or rejects or closes
a peer that can reconnect. Limits that an administrator can set are in [configuration.md](configuration.md).

\`npm run limits\` writes this page. It lists each constant of a module that has a doc comment and a name with \`MAX\`, \`MIN\`,
\`LIMIT\`, \`LONGEST\`, \`TIMEOUT\`, \`LIFETIME\`, \`RETENTION\`, \`KEPT\` or \`ATTEMPTS\`. How many jobs of a queue run at a time is
\`concurrency\` where the queue is declared.
`

interface Limit {
  readonly name: string
  readonly file: string
  readonly value: string
  readonly meaning: string
}

/** Returns the initial value of a constant. */
type LookUp = (name: string) => Node | undefined

/** Finds a list of limits that does not match the constants. */
export function checkLimits(repository: Repository): Finding[] {
  if (!repository.paths.includes(LIMITS_PAGE) || repository.text(LIMITS_PAGE) === limitsPage(repository))
    return []
  return [
    { file: LIMITS_PAGE, rule: 'limits-up-to-date', message: 'differs from the code: run npm run limits' },
  ]
}

/** Writes the constants that are limits as a page, grouped by folder. */
export function limitsPage(repository: Repository): string {
  const sources = repository.sources(...FOLDERS).filter(({ path }) => !path.endsWith('.test.ts'))
  const groups = Map.groupBy(limitsOf(sources), ({ file }) => folderOf(file))
  const tables = [...groups.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([folder, limits]) => {
      const rows = limits.map(
        ({ name, file, value, meaning }) =>
          `| \`${name}\` | ${value} | ${meaning} | \`${posix.relative(folder, file)}\` |`,
      )
      return [`\n## ${folder}\n`, '| Limit | Value | What | File |', '|---|---|---|---|', ...rows].join('\n')
    })
  return `${INTRODUCTION}${tables.join('\n')}\n`
}

function limitsOf(sources: readonly SourceFile[]): Limit[] {
  const initials = new Map<string, Node>()
  const constants = sources.flatMap((source) =>
    nodesIn(source.program.body).flatMap((statement) => {
      const declaration = nodesIn(statement.declaration)[0] ?? statement
      return nodesIn(declaration.declarations).flatMap(({ id, init }) => {
        const [name, initial] = [nameOf(id), nodesIn(init)[0]]
        if (name === undefined || initial === undefined || !/^[A-Z][A-Z\d_]+$/.test(name)) return []
        initials.set(`${source.path} ${name}`, initial)
        return [{ name, initial, source, start: statement.start }]
      })
    }),
  )
  return constants.flatMap(({ name, initial, source, start }) => {
    const lookUp = (other: string) =>
      initials.get(`${source.path} ${other}`) ?? importedBy(source, other, initials)
    const [value, meaning] = [shown(name, initial, lookUp), meaningOf(source.text.slice(0, start))]
    if (!IS_LIMIT.test(name) || value === undefined || meaning === undefined) return []
    return [{ name, file: source.path, value, meaning }]
  })
}

/** Returns the initial value of an imported constant, from the file or from one of its folder that the file exports again. */
function importedBy(source: SourceFile, name: string, initials: ReadonlyMap<string, Node>): Node | undefined {
  const statement = nodesIn(source.program.body).find((node) =>
    nodesIn(node.specifiers).some(({ local }) => nameOf(local) === name),
  )
  const from = nameOf(statement?.source) ?? ''
  const file = from.startsWith('.')
    ? posix.join(posix.dirname(source.path), from)
    : from.replace(/^@wheelhouse\/(\w+)$/, 'packages/$1/index.ts')
  const inFolder = [...initials].filter(([key]) => key.startsWith(`${posix.dirname(file)}/`))
  return initials.get(`${file} ${name}`) ?? inFolder.find(([key]) => key.endsWith(` ${name}`))?.[1]
}

/** Formats a number with its unit, and an object of numbers with its keys. */
function shown(name: string, node: Node, lookUp: LookUp): string | undefined {
  if (node.type !== 'ObjectExpression') {
    const value = evaluate(node, lookUp)
    return value === undefined ? undefined : withUnit(name, value)
  }
  const parts = nodesIn(node.properties).map(({ key, value }) => {
    const words = (nameOf(key) ?? '').replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()
    const part = nodesIn(value)[0]
    return part && `\`${nameOf(key)}\` ${shown(words, part, lookUp)}`
  })
  return parts.join(', ')
}

/** Evaluates arithmetic of numbers and of other constants. */
function evaluate(node: Node | undefined, lookUp: LookUp): number | undefined {
  if (node?.type === 'Literal') return typeof node.value === 'number' ? node.value : undefined
  if (node?.type === 'Identifier') return evaluate(lookUp(node.name as string), lookUp)
  if (node?.type !== 'BinaryExpression') return undefined
  const left = evaluate(nodesIn(node.left)[0], lookUp)
  const right = evaluate(nodesIn(node.right)[0], lookUp)
  if (left === undefined || right === undefined) return undefined
  if (node.operator === '*') return left * right
  if (node.operator === '/') return left / right
  if (node.operator === '+') return left + right
  if (node.operator === '-') return left - right
  return node.operator === '**' ? left ** right : undefined
}

/** Returns the first sentence of the doc comment that a text ends in. */
function meaningOf(before: string): string | undefined {
  const [, comment] = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*$/.exec(before) ?? []
  const text = comment?.replaceAll(/\s*\n\s*\* ?/g, ' ').trim()
  return text?.split(/(?<=\.) /)[0]?.replaceAll('|', '\\|')
}

/** Returns the folder of a part: `hub`, `gateway/control`, `src/core/http`, `packages/sdk`. */
function folderOf(file: string): string {
  const parts = posix.dirname(file).split('/')
  return parts.slice(0, parts[0] === 'src' ? 3 : 2).join('/')
}

const TIMES = [
  ['days', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const
const SIZES = [
  ['MiB', 1024 ** 2],
  ['KiB', 1024],
  ['MB', 1_000_000],
  ['kB', 1_000],
] as const

function withUnit(name: string, value: number): string {
  const [, measured = '', per] = /^(.*?)(?:_PER_(\w+))?$/.exec(name) ?? []
  const suffix = per === undefined ? '' : ` per ${per.toLowerCase().replaceAll('_', ' ')}`
  if (/(?:^|_)MS$/.test(measured)) return inLargest(value, TIMES, 'ms') + suffix
  if (/(?:^|_)SECONDS$/.test(measured)) return inLargest(value * 1_000, TIMES, 'ms') + suffix
  if (/(?:^|_)BYTES(?:_|$)/.test(measured)) return inLargest(value, SIZES, 'bytes') + suffix
  return inDigits(value) + suffix
}

function inLargest(value: number, units: readonly (readonly [string, number])[], smallest: string): string {
  const [unit, size] = units.find(
    ([unit, each]) => value >= (unit === 'days' ? 2 * each : each) && value % each === 0,
  ) ?? [smallest, 1]
  return `${inDigits(value / size)} ${unit}`
}

const inDigits = (value: number) => value.toLocaleString('en-US', { maximumFractionDigits: 6 })
