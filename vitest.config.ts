import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig, type TestProjectConfiguration } from 'vitest/config'
import { oneProjectAtATime } from './test/support/runner/one-project-at-a-time.ts'

/** Tests wait more than they compute. Above eight, the one PostgreSQL server is the limit. */
const maxWorkers = Math.min(8, availableParallelism() + 1)

/** The tests beside the files that they test. They have no services: no PostgreSQL, no Redis. */
const unit: TestProjectConfiguration = {
  extends: true,
  test: {
    name: 'unit',
    include: ['{src,gateway,hub,packages,tools,test/support}/**/*.test.ts'],
    pool: 'threads',
  },
}

/** Returns a project of some folders of test/, whose tests run against a real PostgreSQL and a real Redis. */
const withServices = (name: string, folders: string): TestProjectConfiguration => ({
  extends: true,
  test: {
    name,
    include: [`test/{${folders}}/**/*.test.ts`],
    pool: 'forks',
    globalSetup: ['test/support/runner/global-setup.ts'],
  },
})

export default defineConfig({
  plugins: [oneProjectAtATime()],
  test: {
    exclude: configDefaults.exclude,
    maxWorkers,
    // Every world has its own database, Redis prefix and ports, so that files share processes: loading the platform for
    // each file would take a third of the time.
    isolate: false,
    // Limits end hangs. They are far longer than the longest test on a busy machine.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000, interval: 10 } },
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
      // Few projects: each starts new workers, which load the platform again. `npm test` ends with this one.
      withServices('platform', 'integration,contract,gateway,hub'),
      withServices('programs', 'browser,cli,sdk,e2e,chaos,bench'),
    ],
  },
})
