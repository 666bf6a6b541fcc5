import { cooked, type Node, nameOf, nodesIn, type SourceFile, stringOf, walk } from './source-file.ts'

export interface TableWrite {
  /** Undefined when the table is a parameter. */
  readonly table: string | undefined
  readonly line: number
}

const KYSELY_WRITES = new Set(['insertInto', 'updateTable', 'deleteFrom', 'mergeInto', 'replaceInto'])
const ORM_WRITES = new Set([
  'create',
  'insert',
  'insertMany',
  'upsert',
  'upsertMany',
  'nativeInsert',
  'nativeUpdate',
  'nativeDelete',
])

/** Replaces each substitution of a template. */
const PARAMETER = '‹parameter›'
const TABLE = `(?:only\\s+)?("?[a-z_][\\w.]*"?|${PARAMETER})`
const SQL_WRITES = [
  `\\b(?:insert|merge)\\s+into\\s+${TABLE}`,
  `\\bdelete\\s+from\\s+${TABLE}`,
  `\\btruncate\\s+table\\s+${TABLE}`,
  // With an alias or without; not the `update set` of `on conflict`.
  `\\bupdate\\s+${TABLE}(?:\\s+(?:as\\s+)?[a-z_]\\w*)?\\s+set\\b`,
].map((pattern) => new RegExp(pattern, 'gi'))

/** Maps the name of each entity in a file to its table. */
export function entitiesOf(source: SourceFile): Map<string, string> {
  const tables = new Map<string, string>()
  walk(source.program, (node) => {
    if (node.type !== 'VariableDeclarator') return
    const call = node.init as Node | null
    if (call?.type !== 'CallExpression' || nameOf(call.callee) !== 'defineEntity') return
    const table = propertyOf(nodesIn(call.arguments)[0], 'tableName')
    const name = nameOf(node.id)
    if (name && table) tables.set(name, table)
  })
  return tables
}

function propertyOf(object: Node | undefined, name: string): string | undefined {
  const property = nodesIn(object?.properties).find((candidate) => nameOf(candidate.key) === name)
  return property && stringOf(property.value)
}

/** Lists the writes of a file: by the query builder, by the ORM and in raw SQL. */
export function tableWrites(source: SourceFile, entities: ReadonlyMap<string, string>): TableWrite[] {
  const writes: TableWrite[] = []
  const add = (table: string | undefined, offset: number) => writes.push({ table, line: source.line(offset) })
  walk(source.program, (node) => {
    if (node.type === 'CallExpression') {
      const method = methodOf(node)
      const argument = nodesIn(node.arguments)[0]
      if (method && KYSELY_WRITES.has(method) && argument) {
        // `updateTable('sessions as s')`
        add(stringOf(argument)?.split(' ')[0], node.start)
      }
      const entity = nameOf(argument)
      if (method && ORM_WRITES.has(method) && entity && entities.has(entity))
        add(entities.get(entity), node.start)
    }
    const text = textOf(node)
    if (text !== undefined)
      for (const pattern of SQL_WRITES)
        for (const match of text.matchAll(pattern))
          add(match[1] === PARAMETER ? undefined : match[1]?.replaceAll('"', ''), node.start)
  })
  return writes
}

function methodOf(call: Node): string | undefined {
  const callee = call.callee as Node
  return callee.type === 'MemberExpression' ? nameOf(callee.property) : undefined
}

/** Returns the text of a string or template, with a mark for each substitution. */
function textOf(node: Node): string | undefined {
  if (node.type === 'TemplateLiteral') return nodesIn(node.quasis).map(cooked).join(PARAMETER)
  return node.type === 'Literal' ? stringOf(node) : undefined
}
