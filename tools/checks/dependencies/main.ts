import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { report } from '../finding.ts'
import { checkDependencies } from './check-dependencies.ts'

// `node tools/checks/dependencies/main.ts [folder]`: checks the imports of a checkout.
report(
  await checkDependencies(resolve(process.argv[2] ?? fileURLToPath(new URL('../../..', import.meta.url)))),
)
