import type { Finding } from '../finding.ts'
import type { Repository } from './repository.ts'
import { isNode, nameOf } from './source-file.ts'

const FOLDERS = ['src', 'gateway', 'hub', 'packages/protocol', 'packages/sdk']
const DECLARATIONS = new Set(['TSTypeAliasDeclaration', 'TSInterfaceDeclaration', 'ClassDeclaration'])

/** Finds type names that two files export: one noun per concept, one type per noun. */
export function checkTypeNames(repository: Repository): Finding[] {
  const declared = new Map<string, { file: string; line: number }[]>()
  for (const source of repository.sources(...FOLDERS)) {
    if (source.path.includes('/migrations/')) continue
    for (const statement of source.program.body as { type: string; declaration?: unknown; start: number }[]) {
      if (statement.type !== 'ExportNamedDeclaration' || !isNode(statement.declaration)) continue
      const { declaration } = statement
      if (!DECLARATIONS.has(declaration.type)) continue
      const name = nameOf(declaration.id) as string
      const known = declared.get(name) ?? []
      if (known.some(({ file }) => file === source.path)) continue
      declared.set(name, [...known, { file: source.path, line: source.line(statement.start) }])
    }
  }
  return [...declared].flatMap(([name, all]) =>
    all.slice(1).map(({ file, line }) => ({
      file,
      line,
      rule: 'duplicate-type-name',
      message: `${all[0]?.file} exports the type ${name} too: import that type, or name the other concept`,
    })),
  )
}
