import { parseSync, visitorKeys } from 'oxc-parser'

/** A node of the syntax tree, in the shape of ESTree with TypeScript. */
export interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [property: string]: unknown
}

/** One parsed TypeScript or JavaScript file. */
export class SourceFile {
  readonly path: string
  readonly text: string
  readonly program: Node
  readonly #lineStarts: number[]

  constructor(path: string, text: string) {
    this.path = path
    this.text = text
    this.program = parseSync(path, text).program as unknown as Node
    this.#lineStarts = [0, ...[...text.matchAll(/\n/g)].map((match) => match.index + 1)]
  }

  /** Returns the line of an offset, beginning with 1. */
  line(offset: number): number {
    let low = 0
    let high = this.#lineStarts.length
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((this.#lineStarts[middle] ?? 0) <= offset) low = middle
      else high = middle
    }
    return low + 1
  }
}

type Visit = (node: Node, parent: Node | undefined) => void

/** Calls `visit` for a node and all nodes below it, parents first. */
export function walk(node: Node, visit: Visit, parent?: Node): void {
  visit(node, parent)
  for (const key of visitorKeys[node.type] ?? []) walkProperty(node[key], visit, node)
}

/** Walks the nodes in a property without a list of them, which takes a third of the time of a check. */
function walkProperty(value: unknown, visit: Visit, parent: Node): void {
  if (Array.isArray(value)) for (const item of value) walkProperty(item, visit, parent)
  else if (isNode(value)) walk(value, visit, parent)
}

/** Returns the nodes in a property of a node: none, one, or a list with holes. */
export function nodesIn(value: unknown): Node[] {
  if (Array.isArray(value)) return value.flatMap(nodesIn)
  return isNode(value) ? [value] : []
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'
}

/** Returns the name of an identifier or the value of a string literal; undefined for anything else. */
export function nameOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined
  if (node.type === 'Identifier' || node.type === 'PrivateIdentifier') return node.name as string
  return stringOf(node)
}

/** Returns the value of a string literal, or of a template without substitutions. */
export function stringOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value
  if (node.type === 'TemplateLiteral') {
    const quasis = nodesIn(node.quasis)
    return quasis.length === 1 ? cooked(quasis[0] as Node) : undefined
  }
  return undefined
}

/** Returns the text of a part of a template literal. */
export function cooked(quasi: Node): string {
  return (quasi.value as { cooked: string | null }).cooked ?? ''
}
