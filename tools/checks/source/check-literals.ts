import type { Finding } from '../finding.ts'
import type { Repository } from './repository.ts'
import { type Node, nodesIn, walk } from './source-file.ts'

/** Finds literals that spread a fresh literal: `{ ...{ a }, b }` and `[...[a], b]`. */
export function checkLiterals(repository: Repository): Finding[] {
  return repository.sources().flatMap((source) => {
    const findings: Finding[] = []
    walk(source.program, (node) => {
      const [parts, fresh] = partsOf(node)
      for (const part of parts) {
        if (part.type !== 'SpreadElement' || (part.argument as Node).type !== fresh) continue
        findings.push({
          file: source.path,
          line: source.line(part.start),
          rule: 'no-fresh-spread',
          message: 'spreads a fresh literal: write its parts into the outer literal',
        })
      }
    })
    return findings
  })
}

function partsOf(node: Node): [Node[], string] {
  if (node.type === 'ObjectExpression') return [nodesIn(node.properties), 'ObjectExpression']
  if (node.type === 'ArrayExpression') return [nodesIn(node.elements), 'ArrayExpression']
  if (node.type === 'CallExpression' || node.type === 'NewExpression')
    return [nodesIn(node.arguments), 'ArrayExpression']
  return [[], '']
}
