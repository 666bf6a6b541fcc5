import { configDefaults, defineConfig } from 'vitest/config'
import { LongestFirst } from './test/support/runner/longest-first.ts'

const everything = '{src,gateway,hub,packages,tools,test}/**/*.test.ts'

/** Files that replace a module or the clock, and so need a process of their own. */
const isolated = [
  'test/integration/identity/tokens',
  'test/integration/payments/payments-model',
  'test/gateway/control-relay',
  'test/gateway/control-relay-model',
  'packages/sdk/rest-client',
].map((name) => `${name}.test.ts`)

export default defineConfig({
  test: {
    globalSetup: ['test/support/runner/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    testTimeout: 40_000,
    hookTimeout: 60_000,
    retry: 0,
    restoreMocks: true,
    // A forgotten .only would let everything else pass unseen.
    allowOnly: !process.env.CI,
    reporters: ['default', './test/support/runner/plain-reporter.ts'],
    // Every world has a database, a Redis prefix and ports of its own, so that the files can share their processes:
    // loading the platform anew for each of them took a third of the time.
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          isolate: false,
          include: [everything],
          exclude: [...configDefaults.exclude, ...isolated],
        },
      },
      { extends: true, test: { name: 'isolated', include: isolated } },
    ],
  },
})
