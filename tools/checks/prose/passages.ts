import { cooked, type Node, nodesIn, type SourceFile, walk } from '../source/source-file.ts'

/** A piece of prose: a comment, a message, a paragraph of a document. */
export interface Passage {
  readonly line: number
  readonly text: string
}

/** Returns the comments of a file; successive `//` lines are one passage. Directives of tools are left out. */
export function comments(source: SourceFile): Passage[] {
  const passages: (Passage & { readonly lastLine: number })[] = []
  for (const comment of source.comments) {
    if (/^[\s*/!#]*(?:biome-|@ts-|@vitest|region|<reference)/.test(comment.value)) continue
    const line = source.line(comment.start)
    const text = comment.value
      .split('\n')
      .map((row) => row.replace(/^\s*\*? ?/, ''))
      .join('\n')
    const previous = passages.at(-1)
    if (comment.type === 'Line' && previous?.lastLine === line - 1 && isOwnLine(source, comment.start))
      passages[passages.length - 1] = {
        line: previous.line,
        text: `${previous.text}\n${text}`,
        lastLine: line,
      }
    else passages.push({ line, text, lastLine: comment.type === 'Line' ? line : -1 })
  }
  return passages
}

const isOwnLine = (source: SourceFile, offset: number) =>
  source.text.slice(source.text.lastIndexOf('\n', offset - 1) + 1, offset).trim() === ''

const SQL =
  /^\s*(?:with|select|insert|update|delete|create|alter|drop|merge|values|from|where|order by|for update|coalesce|case|exists|not exists|set)\b/i
const MIN_WORDS = 3

/** Returns the messages of a file: strings and texts of JSX that have at least three words and are no SQL. */
export function messages(source: SourceFile): Passage[] {
  const passages: Passage[] = []
  const skipped = new Set<Node>()
  walk(source.program, (node, parent) => {
    if (node.type === 'TaggedTemplateExpression') skipped.add(node.quasi as Node)
    if (parent?.type === 'ImportDeclaration' || parent?.type === 'TSLiteralType') return
    const text = textOf(node)
    if (text === undefined || skipped.has(node) || !isMessage(text)) return
    passages.push({ line: source.line(node.start), text })
  })
  return passages
}

function textOf(node: Node): string | undefined {
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value
  if (node.type === 'TemplateLiteral') return nodesIn(node.quasis).map(cooked).join('…')
  if (node.type === 'JSXText') return node.value as string
  return undefined
}

function isMessage(text: string): boolean {
  if (SQL.test(text) || /[{};<>=$|\\]{2}|=>|\bfunction\b/.test(text)) return false
  return (text.match(/(?:^|\s)[A-Za-z][a-z’']*(?=[\s.,:;!?]|$)/g) ?? []).length >= MIN_WORDS
}

/** Returns the paragraphs of a Markdown document, without code, headings, tables' rules and addresses of links. */
export function paragraphs(text: string): Passage[] {
  const passages: Passage[] = []
  let current: { line: number; rows: string[] } | undefined
  const finish = () => {
    if (current) passages.push({ line: current.line, text: current.rows.join('\n') })
    current = undefined
  }
  let fence: string | undefined
  for (const [index, row] of text.split('\n').entries()) {
    const mark = /^\s*(```+|~~~+)/.exec(row)?.[1]
    if (mark && (!fence || mark.startsWith(fence))) {
      fence = fence ? undefined : mark
      finish()
      continue
    }
    if (fence) continue
    const isStart = /^\s*(?:[-*+]|\d+\.|>|\|)\s/.test(row) || row.startsWith('|')
    if (/^#|^\s*$|^\s*<|^\|[\s:|-]+$/.test(row) || isStart) finish()
    if (/^#|^\s*$|^\s*<|^\|[\s:|-]+$/.test(row)) continue
    current ??= { line: index + 1, rows: [] }
    current.rows.push(plain(row))
  }
  finish()
  return passages
}

/** Returns the comments of a file of settings. Settings that are commented out, and headings, are left out. */
export function settingsComments(text: string): Passage[] {
  const passages: Passage[] = []
  let current: { line: number; rows: string[] } | undefined
  for (const [index, row] of [...text.split('\n'), ''].entries()) {
    const comment = /^# (?!---|[A-Z_]+=)(.*)/.exec(row)?.[1]
    if (comment !== undefined) {
      current ??= { line: index + 1, rows: [] }
      current.rows.push(comment)
      continue
    }
    if (current) passages.push({ line: current.line, text: current.rows.join('\n') })
    current = undefined
  }
  return passages
}

/** Removes marks, code spans and addresses from a line of Markdown. */
const plain = (row: string) =>
  row
    .replace(/^\s*(?:[-*+]|\d+\.|>)\s+/, '')
    .replace(/`[^`]*`/g, '‹code›')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/https?:\/\/\S+/g, '‹link›')
    .replace(/[*_]{1,2}(\S[^*_]*)[*_]{1,2}/g, '$1')
