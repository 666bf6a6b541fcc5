import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { LIMITS_PAGE, limitsPage } from '../source/check-limits.ts'
import { Repository } from '../source/repository.ts'

// npm run limits: writes docs/limits.md from the constants of the code.

const root = fileURLToPath(new URL('../../..', import.meta.url))
writeFileSync(join(root, LIMITS_PAGE), limitsPage(Repository.open(root)))
