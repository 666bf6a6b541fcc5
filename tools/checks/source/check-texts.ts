import type { Finding } from '../finding.ts'
import type { Repository } from './repository.ts'
import { cooked, type Node, nameOf, nodesIn, type SourceFile, stringOf, walk } from './source-file.ts'

const CONSOLE = 'packages/console/src'
const CATALOGUE = `${CONSOLE}/texts/en.json`

/** Texts that have no translation: the gallery is a tool of developers, the snippets are programs, theme and icon of the window are CSS and SVG. */
const EXEMPT =
  /^packages\/console\/src\/(?:(?:gallery|texts)\/|robots\/snippets\.ts$|base\/(?:theme|favicon)\.ts$)/

/** The catalogue of any language. */
const TRANSLATION = /^packages\/console\/src\/texts\/[a-z]{2}\.json$/
/** Texts that have their English version in the protocol or in the answer of the server. */
const ENGLISH_ELSEWHERE = /^(?:codes|errors)\./

/** The texts of a language by their keys. */
type Texts = ReadonlyMap<string, string>

/** Attributes and properties that users read. */
const TEXT_NAMES =
  /^(?:aria-label|title|label|description|placeholder|alt|note|question|consequence|\w+Label)$/
/** Attributes whose words are names of HTML or CSS. */
const CODE_NAMES = /^(?:rel|className|class|style|sandbox|allow|aria-keyshortcuts)$/
/** Several words, or one word with a capital, as opposed to names in the code. */
const READS_LIKE_A_TEXT = /\p{L}[,.:;!?…]? \p{L}|^\p{Lu}\p{Ll}+[.:!?…]?$/u
const HAS_LETTERS = /\p{L}/u
/** Codes of keys, selectors of elements, and borders of CSS. */
const CODE = /^(?:Escape|Space|Enter|Tab)$|\[role=|^\dpx solid /
/** Operands of comparisons and messages of internal errors are no texts. */
const INTERNAL = new Set(['BinaryExpression', 'NewExpression', 'ImportDeclaration', 'TSLiteralType'])

/** Finds texts of the console outside the catalogue, and keys and placeholders that do not match the catalogue. */
export function checkTexts(repository: Repository): Finding[] {
  const outside = repository
    .sources(CONSOLE)
    .filter(({ path }) => !path.endsWith('.test.ts') && !EXEMPT.test(path))
    .flatMap(textsOutside)
  return repository.paths.includes(CATALOGUE) ? [...outside, ...checkCatalogue(repository)] : outside
}

function textsOutside(source: SourceFile): Finding[] {
  const findings: Finding[] = []
  const shown = new Set<Node>()
  walk(source.program, (node, parent) => {
    for (const result of resultsOf(node, shown.has(node))) shown.add(result)
    const text = textOf(node)
    if (text === undefined || !isText(text, parent, shown.has(node))) return
    findings.push({
      file: source.path,
      line: source.line(node.start),
      rule: 'texts-in-catalogue',
      message: `"${text.trim()}" is a text: add it to ${CATALOGUE} and read it with t()`,
    })
  })
  return findings
}

function textOf(node: Node): string | undefined {
  if (node.type === 'JSXText') return node.value as string
  return node.type === 'TemplateElement' ? cooked(node) : node.type === 'Literal' ? stringOf(node) : undefined
}

/** Returns the parts of a node that users read: all of a text attribute, the results of a condition in it. */
function resultsOf(node: Node, isShown: boolean): Node[] {
  if (node.type === 'JSXElement') return nodesIn(node.children)
  if (node.type === 'JSXAttribute' && TEXT_NAMES.test(attributeName(node))) return nodesIn(node.value)
  if (node.type === 'Property' && TEXT_NAMES.test(nameOf(node.key) ?? '')) return nodesIn(node.value)
  if (!isShown) return []
  if (node.type === 'ConditionalExpression') return nodesIn([node.consequent, node.alternate])
  if (node.type === 'LogicalExpression') return nodesIn([node.left, node.right])
  if (node.type === 'TemplateLiteral') return nodesIn(node.quasis)
  return node.type === 'JSXExpressionContainer' ? nodesIn(node.expression) : []
}

function isText(text: string, parent: Node | undefined, isShown: boolean): boolean {
  if (isShown) return HAS_LETTERS.test(text)
  if (CODE.test(text)) return false
  if (parent && INTERNAL.has(parent.type)) return false
  if (parent?.type === 'JSXAttribute' && CODE_NAMES.test(attributeName(parent))) return false
  return READS_LIKE_A_TEXT.test(text)
}

const attributeName = (attribute: Node): string => String((attribute.name as { name?: unknown }).name)

/** A use of a key: `t('key', { … })`. */
interface Use {
  readonly file: string
  readonly line: number
  readonly key: string
  /** The names of the passed values; undefined if the call computes them. */
  readonly values: readonly string[] | undefined
}

function checkCatalogue(repository: Repository): Finding[] {
  const texts = flatten(JSON.parse(repository.text(CATALOGUE)))
  const sources = repository.sources(CONSOLE)
  const uses = sources.flatMap(usesIn)
  // A table of keys is a use too.
  const used = new Set(sources.flatMap(literalsIn))
  const unused = [...texts.keys()]
    .filter((key) => !used.has(key.replace(/_(?:zero|one|two|few|many|other)$/, '')) && !used.has(key))
    .map((key) => ({
      file: CATALOGUE,
      rule: 'unused-text',
      message: `no t() reads ${key}: remove it`,
    }))
  const translations = repository.paths
    .filter((path) => TRANSLATION.test(path) && path !== CATALOGUE)
    .flatMap((path) => compare(path, flatten(JSON.parse(repository.text(path))), texts))
  return [...unused, ...uses.flatMap((use) => missingValues(use, texts)), ...translations]
}

/** Compares the keys and the values of a translation with those of the English catalogue. */
function compare(file: string, translation: Texts, texts: Texts): Finding[] {
  const rule = 'incomplete-translation'
  const missing = [...texts.keys()]
    .filter((key) => !translation.has(key))
    .map((key) => ({ file, rule, message: `${key} has no translation` }))
  const others = [...translation].flatMap(([key, text]) => {
    const original = texts.get(key)
    if (original === undefined)
      return ENGLISH_ELSEWHERE.test(key)
        ? []
        : [{ file, rule, message: `${key} is not in ${CATALOGUE}: remove it` }]
    const [has, needs] = [valuesOf(text), valuesOf(original)]
    return has === needs
      ? []
      : [{ file, rule, message: `${key} has the values ${has || 'none'}, not ${needs || 'none'}` }]
  })
  return [...missing, ...others]
}

/** Returns the values in a text with their formats, sorted. */
const valuesOf = (text: string) =>
  [...new Set([...text.matchAll(/\{\{\s*([^}]*?)\s*\}\}/g)].map(([, value]) => value))].sort().join(' ')

function missingValues({ file, line, key, values }: Use, texts: Texts): Finding[] {
  const variants = [texts.get(key), texts.get(`${key}_one`), texts.get(`${key}_other`)]
  if (variants.every((text) => text === undefined))
    return [{ file, line, rule: 'unknown-text', message: `${key} is not in ${CATALOGUE}` }]
  if (!values) return []
  const needed = variants.flatMap((text) => [...(text ?? '').matchAll(/\{\{(\w+)/g)].map(([, name]) => name))
  return [...new Set(needed)]
    .filter((name) => name !== undefined && !values.includes(name))
    .map((name) => ({
      file,
      line,
      rule: 'missing-text-value',
      message: `${key} needs the value ${name}`,
    }))
}

function usesIn(source: SourceFile): Use[] {
  const uses: Use[] = []
  walk(source.program, (node) => {
    if (node.type !== 'CallExpression' || !/^(?:t|textParts)$/.test(nameOf(node.callee) ?? '')) return
    const [key, options] = nodesIn(node.arguments)
    if (!key) return
    const values = namesIn(options)
    walk(key, (part) => {
      const text = part.type === 'Literal' ? stringOf(part) : undefined
      if (text?.includes('.'))
        uses.push({ file: source.path, line: source.line(node.start), key: text, values })
    })
  })
  return uses
}

function literalsIn(source: SourceFile): string[] {
  const literals: string[] = []
  walk(source.program, (node) => {
    const text = node.type === 'Literal' ? stringOf(node) : undefined
    if (text !== undefined) literals.push(text)
  })
  return literals
}

/** Returns the names in an object literal; undefined for other values and for spreads. */
function namesIn(options: Node | undefined): string[] | undefined {
  if (!options) return []
  if (options.type !== 'ObjectExpression') return undefined
  const names = nodesIn(options.properties).map((property) => nameOf(property.key))
  return names.every((name) => name !== undefined) ? names : undefined
}

function flatten(value: object, prefix = ''): Map<string, string> {
  return new Map(
    Object.entries(value).flatMap(([name, entry]) =>
      typeof entry === 'string'
        ? [[prefix + name, entry] as const]
        : [...flatten(entry, `${prefix}${name}.`)],
    ),
  )
}
