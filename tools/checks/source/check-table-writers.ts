import type { Finding } from '../finding.ts'
import type { Repository } from './repository.ts'
import { dynamicTables, type WriterException, writerExceptions } from './table-exceptions.ts'
import { entitiesOf, tableWrites } from './table-writes.ts'

const EXCEPTIONS_FILE = 'tools/checks/source/table-exceptions.ts'

/** Checks that a table is written only by the module that defines its entity. */
export function checkTableWriters(
  repository: Repository,
  exceptions: readonly WriterException[] = writerExceptions,
  dynamic: Readonly<Record<string, string>> = dynamicTables,
): Finding[] {
  const sources = repository
    .sources('src', 'gateway', 'hub')
    .filter(({ path }) => !path.endsWith('.test.ts') && !path.includes('/migrations/'))
  const homes = new Map<string, string>()
  const entities = new Map<string, string>()
  for (const source of sources)
    for (const [entity, table] of entitiesOf(source)) {
      entities.set(entity, table)
      homes.set(table, moduleOf(source.path))
    }

  const used = new Set<WriterException>()
  const usedDynamic = new Set<string>()
  const findings = sources.flatMap((source) =>
    tableWrites(source, entities).flatMap(({ table, line }): Finding[] => {
      const at = { file: source.path, line }
      if (table === undefined) {
        usedDynamic.add(source.path)
        if (source.path in dynamic) return []
        const message = `writes a table that is a parameter: write its name, or list the file in ${EXCEPTIONS_FILE}`
        return [{ ...at, rule: 'dynamic-table', message }]
      }
      const writer = moduleOf(source.path)
      const home = homes.get(table)
      if (home === undefined)
        return [
          { ...at, rule: 'unknown-table', message: `no entity defines the table ${table}: correct the name` },
        ]
      if (home === writer) return []
      const exception = exceptions.find((entry) => entry.table === table && entry.writer === writer)
      if (exception) {
        used.add(exception)
        return []
      }
      const message = `${writer} writes ${table}, which belongs to ${home}: call ${home} or record an event`
      return [{ ...at, rule: 'one-writer', message }]
    }),
  )
  const unused = [
    ...exceptions
      .filter((entry) => !used.has(entry))
      .map(({ table, writer }) => `${writer} does not write ${table}`),
    ...Object.keys(dynamic)
      .filter((path) => !usedDynamic.has(path))
      .map((path) => `${path} writes no table that is a parameter`),
  ].map((message) => ({
    file: EXCEPTIONS_FILE,
    rule: 'unused-exception',
    message: `${message}: remove the entry`,
  }))
  return [...findings, ...unused]
}

/** Names the unit that owns tables: a module, core, or a top folder. */
function moduleOf(path: string): string {
  return (
    /^src\/modules\/([^/]+)\//.exec(path)?.[1] ??
    /^src\/([^/]+)\//.exec(path)?.[1] ??
    (path.split('/')[0] as string)
  )
}
