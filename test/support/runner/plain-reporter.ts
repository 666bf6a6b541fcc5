import type { Reporter, TestModule } from 'vitest/node'

/**
 * Ends a run with one plain line, "N passed, N failed". A failure outside any test (a setup, a file that does not load,
 * an unhandled rejection) counts as a failure too, so that the line never says 0 after a failed run.
 */
export default class PlainReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[], reason: string): void {
    const states = modules.flatMap((module) =>
      [...module.children.allTests()].map((test) => test.result().state),
    )
    const passed = states.filter((state) => state === 'passed').length
    const failedTests = states.filter((state) => state === 'failed').length
    const failed = failedTests + brokenSuites(modules) + unhandledErrors.length
    const closing = `${passed} passed, ${failed || (reason === 'failed' ? 1 : 0)} failed`
    // The default reporter prints its summary during the same event; this line follows it.
    setImmediate(() => process.stdout.write(`${closing}\n`))
  }
}

/** Returns files and suites that failed while loading, or in a hook. */
function brokenSuites(modules: readonly TestModule[]): number {
  let broken = 0
  for (const module of modules) {
    for (const suite of [module, ...module.children.allSuites()]) if (suite.errors().length > 0) broken++
  }
  return broken
}
