import { configDefaults, defineConfig } from 'vitest/config'
import { LongestFirst } from './test/support/longest-first.ts'

/** Files that replace a module or the clock, and so need a process of their own. */
const alone = ['identity-tokens', 'payments-model', 'relay', 'relay-model', 'sdk-rest-client'].map(
  (name) => `test/${name}.test.ts`,
)

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    testTimeout: 40_000,
    hookTimeout: 60_000,
    retry: 0,
    restoreMocks: true,
    // A forgotten .only would let everything else pass unseen.
    allowOnly: !process.env.CI,
    reporters: ['default', './test/support/plain-reporter.ts'],
    // Every world has a database, a Redis prefix and ports of its own, so that the files can share their processes:
    // loading the platform anew for each of them took a third of the time.
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          isolate: false,
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...alone],
        },
      },
      { extends: true, test: { name: 'alone', include: alone } },
    ],
  },
})
