import type { Finding } from '../finding.ts'
import { checkFileNames } from '../identifiers/check-file-names.ts'
import { checkIdentifiers } from '../identifiers/check-identifiers.ts'
import { checkProse } from '../prose/check-prose.ts'
import { checkTableWriters } from '../tables/check-table-writers.ts'
import { checkLiterals } from './check-literals.ts'
import { checkOutsidePaths, checkProduct, checkSyntax } from './check-product.ts'
import { checkTexts } from './check-texts.ts'
import { checkTypeNames } from './check-type-names.ts'
import type { Repository } from './repository.ts'

/** The checks that read the syntax trees, by the name that the command line accepts. */
export const sourceChecks: Readonly<Record<string, (repository: Repository) => Finding[]>> = {
  syntax: checkSyntax,
  identifiers: (repository) => checkIdentifiers(repository),
  files: checkFileNames,
  prose: checkProse,
  tables: (repository) => checkTableWriters(repository),
  types: checkTypeNames,
  literals: checkLiterals,
  product: checkProduct,
  paths: checkOutsidePaths,
  texts: checkTexts,
}
