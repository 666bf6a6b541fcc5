import type { Finding } from '../finding.ts'
import type { Repository } from '../source/repository.ts'
import { type AllowedName, allowedNames, HISTORY } from './allowed-names.ts'
import { bannedPairs, bannedWords } from './banned-words.ts'
import { declaredNames, wordsOf } from './declared-names.ts'

/** The tables of this check contain the banned words. */
const OWN_TABLES = 'tools/checks/identifiers/'

/** Finds banned words in the names that the code declares. */
export function checkIdentifiers(
  repository: Repository,
  allowed: readonly AllowedName[] = allowedNames,
): Finding[] {
  const used = new Set<AllowedName>()
  const findings = repository
    .sources()
    .filter(({ path }) => !HISTORY.some((folder) => path.startsWith(folder)) && !path.startsWith(OWN_TABLES))
    .flatMap((source) =>
      declaredNames(source).flatMap(({ name, line }) => {
        const banned = bannedPartOf(name)
        if (!banned) return []
        const exception = allowed.find(
          (entry) => entry.name === name && source.path.startsWith(entry.under ?? ''),
        )
        if (exception) {
          used.add(exception)
          return []
        }
        return [{ file: source.path, line, rule: 'banned-identifier', message: describe(name, banned) }]
      }),
    )
  const unused = allowed
    .filter((entry) => !used.has(entry))
    .map(({ name }) => ({
      file: `${OWN_TABLES}allowed-names.ts`,
      rule: 'unused-exception',
      message: `no file declares ${name}: remove the entry`,
    }))
  return [...findings, ...unused]
}

const describe = (name: string, { words, instead }: Banned) => `"${name}" contains "${words}": use ${instead}`

export interface Banned {
  readonly words: string
  readonly instead: string
}

/** Returns the first banned word, or pair of words, of an identifier. Quoted keys that are sentences are prose. */
export function bannedPartOf(name: string): Banned | undefined {
  if (!/^[\w$.-]+$/.test(name)) return undefined
  const words = wordsOf(name)
  const pairs = words.slice(1).map((word, index) => `${words[index]} ${word}`)
  for (const [candidates, banned] of [[words, bannedWords] as const, [pairs, bannedPairs] as const]) {
    const found = candidates.find((candidate) => banned.has(candidate))
    if (found) return { words: found, instead: banned.get(found) as string }
  }
  return undefined
}
