import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

/** The failures of one run of the tests. */
const failedFilesSchema = z.object({
  /** Files with a failed test, hook or import, or with an unhandled error; paths from the project's folder. */
  files: z.array(z.string()),
  /** Errors that belong to no file, such as services that did not start. */
  otherErrors: z.number(),
})
export type FailedFiles = z.infer<typeof failedFilesSchema>

const store = fileURLToPath(
  new URL('../../../node_modules/.cache/wheelhouse/failed-files.json', import.meta.url),
)

/** Removes what the last run left, so that a run that is killed leaves nothing to repeat. */
export const forgetFailedFiles = (): void => rmSync(store, { force: true })

export function writeFailedFiles(failed: FailedFiles): void {
  mkdirSync(dirname(store), { recursive: true })
  writeFileSync(store, JSON.stringify(failed))
}

/** Returns the failures of the last run; null if it did not reach its end. */
export const readFailedFiles = (): FailedFiles | null =>
  existsSync(store) ? failedFilesSchema.parse(JSON.parse(readFileSync(store, 'utf8'))) : null
