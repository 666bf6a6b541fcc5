import type { Finding } from '../finding.ts'
import { checkLimits } from './check-limits.ts'
import { checkOutsidePaths } from './check-paths.ts'
import { checkTableWriters } from './check-table-writers.ts'
import { checkTexts } from './check-texts.ts'
import type { Repository } from './repository.ts'

/** The checks that no other program has, by the name that the command line accepts. */
export const sourceChecks: Readonly<Record<string, (repository: Repository) => Finding[]>> = {
  tables: (repository) => checkTableWriters(repository),
  paths: checkOutsidePaths,
  texts: checkTexts,
  limits: checkLimits,
}
