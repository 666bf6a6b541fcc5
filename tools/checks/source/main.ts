import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { report } from '../finding.ts'
import { sourceChecks } from './check-source.ts'
import { Repository } from './repository.ts'

// `node tools/checks/source/main.ts [check …] [--root folder]`: runs the named checks, or all of them.
const names = process.argv.slice(2)
const rootFlag = names.indexOf('--root')
const [, folder] = rootFlag < 0 ? [] : names.splice(rootFlag, 2)
const unknown = names.filter((name) => !(name in sourceChecks))
if (unknown.length > 0)
  throw new Error(`Unknown check ${unknown.join(', ')}. Use ${Object.keys(sourceChecks).join(', ')}.`)

const repository = Repository.open(resolve(folder ?? fileURLToPath(new URL('../../..', import.meta.url))))
const selected = Object.entries(sourceChecks).filter(([name]) => names.length === 0 || names.includes(name))
report(selected.flatMap(([, check]) => check(repository)))
