import { type Node, type SourceFile, walk } from '../source/source-file.ts'
import type { Passage } from './passages.ts'

/** A doc comment of a function whose first word is no verb in the third person. */
export interface WeakDocComment extends Passage {
  readonly firstWord: string
}

/** Words with a final `s` that are no verbs. */
const NO_VERBS = new Set(
  'Its This His Hers Ours Theirs Always Perhaps Less Thus As Is Was Has Does Yes Units Ids Milliseconds Seconds Minutes Hours Days Bytes Robots Sessions Operators Observers Clients Users Frames Events Messages Fields Rows Files Tests Options Tokens Keys Statuses Status Access Address Process Various Previous'.split(
    ' ',
  ),
)
/** First words that end differently: verbs after an adverb, and forms that read as a verb phrase. */
const FINE = new Set(['Is', 'Has', 'Does', 'Never', 'Asynchronously', 'Deprecated', 'Also', 'Only'])

/** Finds doc comments of functions and methods that do not begin with a verb: "Returns", "Publishes", "Halts". */
export function weakDocComments(source: SourceFile): WeakDocComment[] {
  const byEnd = new Map<number, { line: number; text: string }>()
  for (const comment of source.comments) {
    if (comment.type !== 'Block' || !comment.value.startsWith('*')) continue
    const next = comment.end + (/^\s*/.exec(source.text.slice(comment.end))?.[0].length ?? 0)
    byEnd.set(next, { line: source.line(comment.start), text: comment.value })
  }
  if (byEnd.size === 0) return []
  const found: WeakDocComment[] = []
  walk(source.program, (node) => {
    const comment = describesFunction(node) ? byEnd.get(node.start) : undefined
    if (!comment) return
    const [firstWord = ''] = comment.text.replace(/^[\s*]+/, '').split(/[\s,.:;]/)
    if (isVerb(firstWord)) return
    // `export` starts where its declaration is wrapped: report a comment once.
    byEnd.delete(node.start)
    found.push({ line: comment.line, text: comment.text, firstWord })
  })
  return found
}

function isVerb(word: string): boolean {
  if (FINE.has(word) || /^[@{`]/.test(word)) return true
  return /^[A-Z][a-z-]*s$/.test(word) && !NO_VERBS.has(word)
}

function describesFunction(node: Node): boolean {
  switch (node.type) {
    case 'ExportNamedDeclaration':
    case 'ExportDefaultDeclaration':
      return node.declaration !== null && describesFunction(node.declaration as Node)
    case 'FunctionDeclaration':
    case 'TSDeclareFunction':
    case 'TSMethodSignature':
      return true
    case 'MethodDefinition':
      return node.kind === 'method'
    case 'VariableDeclaration':
      return (node.declarations as Node[]).every((declaration) => isFunctionValue(declaration.init))
    case 'PropertyDefinition':
      return isFunctionValue(node.value)
    default:
      return false
  }
}

const isFunctionValue = (value: unknown) =>
  /^(?:ArrowFunctionExpression|FunctionExpression)$/.test((value as Node | null)?.type ?? '')
