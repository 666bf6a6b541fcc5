import { posix } from 'node:path'
import type { Finding } from '../finding.ts'
import type { Repository } from './repository.ts'
import { type Node, nameOf, type SourceFile, walk } from './source-file.ts'

const PRODUCT = ['src', 'gateway', 'hub', 'packages']
const MAX_LINES = 600

/** Programs that read the environment themselves. */
const ENVIRONMENT_READERS = ['src/app/config.ts', 'packages/cli/main.ts']

/** Checks limits of the product's code: one reader of the environment, short files, portable packages. */
export function checkProduct(repository: Repository): Finding[] {
  return repository
    .sources(...PRODUCT)
    .flatMap((source) => [...checkEnvironment(source), ...checkLength(source), ...checkPortability(source)])
}

function checkEnvironment(source: SourceFile): Finding[] {
  if (ENVIRONMENT_READERS.includes(source.path)) return []
  return findNodes(source, (node) => isMember(node, 'process', 'env')).map((node) => ({
    file: source.path,
    line: source.line(node.start),
    rule: 'one-environment-reader',
    message: 'reads process.env: add the variable to src/app/config.ts and pass the value in',
  }))
}

function checkLength(source: SourceFile): Finding[] {
  const lines = source.text.trimEnd().split('\n').length
  if (lines <= MAX_LINES) return []
  return [
    {
      file: source.path,
      rule: 'max-lines',
      message: `has ${lines} lines, at most ${MAX_LINES} are allowed: split the file by subject`,
    },
  ]
}

/** Finds globals of Node in packages that browsers load. Imports of Node: `portable-packages` of the import rules. */
function checkPortability(source: SourceFile): Finding[] {
  if (!/^packages\/(?:protocol|sdk)\//.test(source.path) || source.path.endsWith('.test.ts')) return []
  const isNodeGlobal = (node: Node) =>
    (node.type === 'MemberExpression' && ['process', 'Buffer'].includes(nameOf(node.object) ?? '')) ||
    (/^(?:Call|New)Expression$/.test(node.type) && nameOf(node.callee) === 'Buffer')
  return findNodes(source, isNodeGlobal).map((node) => ({
    file: source.path,
    line: source.line(node.start),
    rule: 'portable-packages',
    message: 'uses a global of Node: the protocol and the SDK run in browsers',
  }))
}

function isMember(node: Node, object: string, property: string): boolean {
  return (
    node.type === 'MemberExpression' &&
    (node.object as Node).type === 'Identifier' &&
    nameOf(node.object) === object &&
    nameOf(node.property) === property
  )
}

function findNodes(source: SourceFile, matches: (node: Node) => boolean): Node[] {
  const found: Node[] = []
  walk(source.program, (node) => {
    if (matches(node)) found.push(node)
  })
  return found
}

/** Finds paths that lead out of the repository, and paths of the machine that a file was written on. */
export function checkOutsidePaths(repository: Repository): Finding[] {
  return repository.textFiles().flatMap((file) => {
    const text = repository.text(file)
    const lineAt = (offset: number) => text.slice(0, offset).split('\n').length
    const climbing = [...text.matchAll(/(?<![\w.])(?:\.\.\/)+[\w@.-]+/g)].filter(([path]) =>
      posix.join(posix.dirname(file), path).startsWith('../'),
    )
    const absolute = [...text.matchAll(/(?<![\w.~-])\/(?:home|Users|work|workspace)\/(?!node\b)\w+/g)]
    return [...climbing, ...absolute].map((match) => ({
      file,
      line: lineAt(match.index),
      rule: 'no-outside-path',
      message: `${match[0]} lies outside the repository: use a path below its root`,
    }))
  })
}

/** Finds files that cannot be parsed, which the other checks take for empty. */
export function checkSyntax(repository: Repository): Finding[] {
  return repository
    .sources()
    .flatMap(({ path, syntaxError }) =>
      syntaxError ? [{ file: path, rule: 'syntax', message: syntaxError }] : [],
    )
}
