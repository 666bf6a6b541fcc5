import { isNode, type Node, nameOf, nodesIn, type SourceFile, walk } from '../source/source-file.ts'

export interface DeclaredName {
  readonly name: string
  readonly line: number
}

/** Properties of a node that contain the name which the node declares. */
const NAME_OF: Readonly<Record<string, string>> = {
  FunctionDeclaration: 'id',
  FunctionExpression: 'id',
  TSDeclareFunction: 'id',
  ClassDeclaration: 'id',
  ClassExpression: 'id',
  TSTypeAliasDeclaration: 'id',
  TSInterfaceDeclaration: 'id',
  TSModuleDeclaration: 'id',
  TSTypeParameter: 'name',
  TSMappedType: 'key',
  TSPropertySignature: 'key',
  TSMethodSignature: 'key',
  MethodDefinition: 'key',
  PropertyDefinition: 'key',
  AccessorProperty: 'key',
  TSNamedTupleMember: 'label',
}

/** Lists every name that a file declares: variables, parameters, functions, types, members and keys of object literals. */
export function declaredNames(source: SourceFile): DeclaredName[] {
  const found: DeclaredName[] = []
  const add = (node: unknown) => {
    const name = nameOf(node)
    if (name !== undefined && isNode(node)) found.push({ name, line: source.line(node.start) })
  }
  walk(source.program, (node, parent) => {
    const property = NAME_OF[node.type]
    if (property && node.computed !== true) add(node[property])
    if (node.type === 'VariableDeclarator') for (const name of bound(node.id)) add(name)
    if (node.type === 'CatchClause') for (const name of bound(node.param)) add(name)
    if (isFunction(node))
      for (const parameter of nodesIn(node.params)) for (const name of bound(parameter)) add(name)
    // The key of a pattern refers to a property that is declared elsewhere.
    if (node.type === 'Property' && parent?.type === 'ObjectExpression' && !node.computed && !node.shorthand)
      add(node.key)
    if (/^Import(?:Specifier|DefaultSpecifier|NamespaceSpecifier)$/.test(node.type) && isRenamed(node))
      add(node.local)
    if (node.type === 'ExportSpecifier' && nameOf(node.exported) !== nameOf(node.local)) add(node.exported)
  })
  return found
}

const isFunction = (node: Node) =>
  /Function|^TS(?:MethodSignature|CallSignatureDeclaration|ConstructSignatureDeclaration)$/.test(node.type)

const isRenamed = (node: Node) =>
  node.type !== 'ImportSpecifier' || nameOf(node.imported) !== nameOf(node.local)

/** Returns the identifiers that a pattern binds. */
function bound(pattern: unknown): Node[] {
  if (!isNode(pattern)) return []
  switch (pattern.type) {
    case 'Identifier':
      return [pattern]
    case 'ObjectPattern':
      return nodesIn(pattern.properties).flatMap((property) => {
        if (property.type === 'RestElement') return bound(property.argument)
        // A shorthand refers to a property that is declared elsewhere.
        return property.shorthand === true ? [] : bound(property.value)
      })
    case 'ArrayPattern':
      return nodesIn(pattern.elements).flatMap(bound)
    case 'AssignmentPattern':
      return bound(pattern.left)
    case 'RestElement':
      return bound(pattern.argument)
    default:
      return []
  }
}

/** Splits `robotLogID`, `robot_log`, `robot-log` and `http2Server` into lower-case words. */
export function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase())
}
