import './typescript-parser.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ICruiseResult, IModule } from 'dependency-cruiser'
import type { Finding } from '../finding.ts'
import { rules } from './rules.ts'

const FOLDERS = ['src', 'gateway', 'hub', 'packages', 'tools', 'test', 'examples']

/** An import of one file by another. */
export interface Edge {
  readonly from: string
  readonly to: string
  /** Erased by the compiler. */
  readonly typeOnly: boolean
  /** Loaded when the call runs, not when the file is loaded. */
  readonly dynamic: boolean
}

/** Reads the imports of all files and evaluates the rules of rules.ts. */
export async function cruiseRepository(root: string): Promise<{ edges: Edge[]; findings: Finding[] }> {
  // After the hook: dependency-cruiser looks for TypeScript while it is loaded.
  const { cruise } = await import('dependency-cruiser')
  const { output } = await cruise(
    FOLDERS.filter((folder) => existsSync(join(root, folder))),
    {
      baseDir: root,
      exclude: { path: ['^packages/[^/]+/dist', '^test/support/openapi-client/generated/'] },
      doNotFollow: { path: 'node_modules' },
      parser: 'tsc',
      // Imports of types count: a reader follows them too.
      tsPreCompilationDeps: true,
      validate: true,
      ruleSet: { forbidden: rules },
    },
    { conditionNames: ['node', 'import', 'default'], exportsFields: ['exports'] },
  )
  const { modules, summary } = output as ICruiseResult
  const sources = modules.filter((module) => FOLDERS.some((folder) => module.source.startsWith(`${folder}/`)))
  if (!sources.some(({ source }) => /\.tsx?$/.test(source)))
    throw new Error('dependency-cruiser has read no TypeScript file: it found no TypeScript of its range')
  const findings = summary.violations.map(({ from, to, rule, cycle }) => ({
    file: from,
    rule: rule.name,
    message: `imports ${cycle ? [...cycle.map(({ name }) => name)].join(' → ') : to}: ${commentOf(rule.name)}`,
  }))
  return { edges: sources.flatMap(edgesOf), findings }
}

function edgesOf({ source, dependencies }: IModule): Edge[] {
  return dependencies.map((dependency) => ({
    from: source,
    to: dependency.resolved,
    typeOnly: dependency.dependencyTypes.some((type) => type === 'type-only' || type === 'type-import'),
    dynamic: dependency.dynamic,
  }))
}

const commentOf = (name: string) => rules.find((rule) => rule.name === name)?.comment
