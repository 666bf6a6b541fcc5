import { relative } from 'node:path'
import type { SerializedError } from 'vitest'
import type { Reporter, TestModule, Vitest } from 'vitest/node'
import { type FailedFiles, forgetFailedFiles, writeFailedFiles } from './failed-files.ts'

/** Keeps the names of the files in which something failed, for `npm run test:rerun`. */
export default class FailedFilesReporter implements Reporter {
  #root = process.cwd()

  onInit({ config }: Vitest): void {
    this.#root = config.root
    forgetFailedFiles()
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    writeFailedFiles(failedFilesOf(modules, unhandledErrors, this.#root))
  }
}

/** Returns the files of a run in which something failed. @param root the folder of the project */
export function failedFilesOf(
  modules: readonly Pick<TestModule, 'ok' | 'relativeModuleId'>[],
  unhandledErrors: readonly Partial<SerializedError & { VITEST_TEST_PATH: string }>[],
  root: string,
): FailedFiles {
  // Vitest adds the test file during which an error was thrown where it knows the file.
  const paths = unhandledErrors.flatMap(({ VITEST_TEST_PATH }) => VITEST_TEST_PATH ?? [])
  const failed = modules.filter((module) => !module.ok()).map(({ relativeModuleId }) => relativeModuleId)
  const files = new Set([...failed, ...paths.map((path) => relative(root, path))])
  return { files: [...files], otherErrors: unhandledErrors.length - paths.length }
}
