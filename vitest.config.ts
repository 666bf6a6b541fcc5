import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig, type TestProjectConfiguration } from 'vitest/config'
import { WAIT_LIMIT_MS } from './test/support/world/wait-limit.ts'

const cores = availableParallelism()
/** Above eight, the one PostgreSQL server is the limit. */
const MAX_WORKERS = 8

/** The tests beside the files that they test. They have no services: no PostgreSQL, no Redis. */
const unit: TestProjectConfiguration = {
  extends: true,
  test: {
    name: 'unit',
    include: ['{src,gateway,hub,packages,tools,test/support}/**/*.test.ts'],
    pool: 'threads',
    sequence: { groupOrder: 0 },
  },
}

/**
 * Returns a project of some folders of test/, whose tests run against a real PostgreSQL and a real Redis, after the
 * project before it.
 */
const withServices = (
  name: string,
  { folders, workers, groupOrder }: { folders: string; workers: number; groupOrder: number },
): TestProjectConfiguration => ({
  extends: true,
  test: {
    name,
    include: [`test/{${folders}}/**/*.test.ts`],
    pool: 'forks',
    maxWorkers: Math.min(MAX_WORKERS, workers),
    sequence: { groupOrder },
    globalSetup: ['test/support/runner/global-setup.ts'],
  },
})

export default defineConfig({
  test: {
    exclude: configDefaults.exclude,
    // Every world has its own database, Redis prefix and ports, so that files share processes: loading the platform for
    // each file would take a third of the time.
    isolate: false,
    // Limits end hangs. They are far longer than the longest test on a busy machine.
    testTimeout: 600_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: WAIT_LIMIT_MS, interval: 10 } },
    retry: 0,
    restoreMocks: true,
    // A forgotten .only would skip all other tests unnoticed.
    allowOnly: !process.env.CI,
    reporters: [
      'default',
      './test/support/runner/slow-files-reporter.ts',
      './test/support/runner/plain-reporter.ts',
    ],
    projects: [
      unit,
      // Few projects: each starts new workers, which load the platform again. `npm test` ends with this one. Its tests wait
      // as long as they compute.
      withServices('platform', {
        folders: 'integration,contract,gateway,hub',
        workers: 2 * cores,
        groupOrder: 1,
      }),
      withServices('programs', {
        folders: 'browser,cli,sdk,e2e,chaos,bench',
        workers: cores + 1,
        groupOrder: 2,
      }),
    ],
  },
})
