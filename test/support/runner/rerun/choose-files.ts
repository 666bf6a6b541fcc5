import type { FailedFiles } from '../failed-files.ts'

/** More failures than these are no chance. */
const MOST_FILES = 12

/** The files to run again, or why none is. */
export type Choice = { readonly files: readonly string[] } | { readonly refusal: string }

/** Chooses the files to run again after a run. @param failed null if the run did not reach its end */
export function chooseFiles(failed: FailedFiles | null): Choice {
  if (!failed) return { refusal: 'the last run did not reach its end' }
  const { files, otherErrors } = failed
  if (otherErrors > 0) return { refusal: `${otherErrors} errors belong to no file` }
  if (files.length === 0) return { refusal: 'the last run names no file that failed' }
  if (files.length > MOST_FILES) return { refusal: `${files.length} files failed, more than ${MOST_FILES}` }
  return { files }
}
