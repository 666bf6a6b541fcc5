import { posix } from 'node:path'
import type { Finding } from '../finding.ts'
import type { Repository } from './repository.ts'

/** Finds paths that lead out of the repository, and paths of the machine that a file was written on. */
export function checkOutsidePaths(repository: Repository): Finding[] {
  return repository.textFiles().flatMap((file) => {
    const text = repository.text(file)
    const lineAt = (offset: number) => text.slice(0, offset).split('\n').length
    const climbing = [...text.matchAll(/(?<![\w.])(?:\.\.\/)+[\w@.-]+/g)].filter(([path]) =>
      posix.join(posix.dirname(file), path).startsWith('../'),
    )
    const absolute = [...text.matchAll(/(?<![\w.~-])\/(?:home|Users|work|workspace)\/(?!node\b)\w+/g)]
    return [...climbing, ...absolute].map((match) => ({
      file,
      line: lineAt(match.index),
      rule: 'no-outside-path',
      message: `${match[0]} lies outside the repository: use a path below its root`,
    }))
  })
}
