import { relative } from 'node:path'
import type { SerializedError } from 'vitest'
import type { Reporter, TestModule, Vitest } from 'vitest/node'
import { forgetFailedFiles, writeFailedFiles } from './failed-files.ts'

/** Keeps the names of the files in which something failed, for `npm run test:rerun`. */
export default class FailedFilesReporter implements Reporter {
  #root = process.cwd()

  onInit({ config }: Vitest): void {
    this.#root = config.root
    forgetFailedFiles()
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const paths = unhandledErrors.map(testPathOf).filter((path) => path !== undefined)
    const failed = modules.filter((module) => !module.ok()).map(({ relativeModuleId }) => relativeModuleId)
    const files = new Set([...failed, ...paths.map((path) => relative(this.#root, path))])
    writeFailedFiles({ files: [...files], otherErrors: unhandledErrors.length - paths.length })
  }
}

/** Returns the test file during which an error was thrown, which vitest adds where it knows the file. */
const testPathOf = (error: SerializedError & { VITEST_TEST_PATH?: string }): string | undefined =>
  error.VITEST_TEST_PATH
