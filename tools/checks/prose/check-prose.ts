import type { Finding } from '../finding.ts'
import type { Repository } from '../source/repository.ts'
import { bannedTerms } from './banned-terms.ts'
import { weakDocComments } from './doc-comments.ts'
import { comments, messages, type Passage, paragraphs, settingsComments } from './passages.ts'
import { relativeClause } from './relative-clauses.ts'

/** Texts of others, history, and the tables of this check. */
const EXEMPT = [
  'docs/specification.md',
  'CHANGELOG.md',
  'LICENSE',
  'src/app/database/migrations/',
  'tools/checks/prose/',
  'tools/checks/identifiers/',
]
/** A comment before each setting. */
const SETTINGS = '.env.example'
/** Written by `npm run cli:docs` from texts that are checked in the code. */
const GENERATED = ['docs/cli.md']

/** Checks comments, messages, documents and the example of the settings: banned terms, relative clauses, verbs in doc comments. */
export function checkProse(repository: Repository): Finding[] {
  const isChecked = (path: string) => ![...EXEMPT, ...GENERATED].some((prefix) => path.startsWith(prefix))
  const code = repository
    .sources()
    .filter(({ path }) => isChecked(path))
    .flatMap((source) => [
      ...[...comments(source), ...messages(source)].flatMap((passage) => checkPassage(source.path, passage)),
      ...weakDocComments(source).map(({ line, firstWord }) => ({
        file: source.path,
        line,
        rule: 'doc-comment-verb',
        message: `the doc comment of a function begins with "${firstWord}": begin with a verb ("Returns …")`,
      })),
    ])
  const documents = repository.paths
    .filter((path) => path.endsWith('.md') && isChecked(path))
    .flatMap((path) => paragraphs(repository.text(path)).flatMap((passage) => checkPassage(path, passage)))
  const settings = repository.paths
    .filter((path) => path === SETTINGS)
    .flatMap((path) =>
      settingsComments(repository.text(path)).flatMap((passage) => checkPassage(path, passage)),
    )
  return [...code, ...documents, ...settings]
}

function checkPassage(file: string, { line, text }: Passage): Finding[] {
  const lineAt = (offset: number) => line + text.slice(0, offset).split('\n').length - 1
  const terms = bannedTerms.flatMap(({ pattern, instead }) => {
    const match = pattern.exec(text)
    if (!match) return []
    const message = `"${match[0]}": ${instead}`
    return [{ file, line: lineAt(match.index), rule: 'banned-term', message }]
  })
  const clause = relativeClause(text)
  if (!clause) return terms
  const message = `"${clause.sentence.slice(0, 40)}…" begins with a relative clause: begin with the subject`
  return [...terms, { file, line: lineAt(clause.offset), rule: 'relative-clause', message }]
}
