import type { Reporter, TestModule } from 'vitest/node'

const SHOWN = 10

/** Prints the slowest files of a run that has more. */
export default class SlowFilesReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    if (modules.length <= SHOWN) return
    const slowest = modules.map(measure).toSorted((a, b) => b.seconds - a.seconds)
    const lines = slowest
      .slice(0, SHOWN)
      .map(({ path, seconds, tests }) => `${seconds.toFixed(1).padStart(7)} s  ${path} (${tests} tests)`)
    // The default reporter prints its summary during the same event; this list follows it.
    setImmediate(() => process.stdout.write(`Slowest files:\n${lines.join('\n')}\n`))
  }
}

const measure = (module: TestModule) => ({
  path: module.relativeModuleId,
  seconds: module.diagnostic().duration / 1000,
  tests: [...module.children.allTests()].length,
})
