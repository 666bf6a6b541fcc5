import { configDefaults, defineConfig } from 'vitest/config'
import { LongestFirst } from './test/support/runner/longest-first.ts'

const allTests = '{src,gateway,hub,packages,tools,test}/**/*.test.ts'

/** Files that mock a module or the clock, and therefore need a separate process. */
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
    // Limits end hangs. They are far longer than the longest test on a busy machine.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000, interval: 10 } },
    retry: 0,
    restoreMocks: true,
    // A forgotten .only would skip all other tests unnoticed.
    allowOnly: !process.env.CI,
    reporters: ['default', './test/support/runner/plain-reporter.ts'],
    // Every world has its own database, Redis prefix and ports, so that the files can share processes: loading the
    // platform for each file took a third of the time.
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          isolate: false,
          include: [allTests],
          exclude: [...configDefaults.exclude, ...isolated],
        },
      },
      { extends: true, test: { name: 'isolated', include: isolated } },
    ],
  },
})
