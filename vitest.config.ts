import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 60_000,
    retry: 0,
    // A forgotten .only would let everything else pass unseen.
    allowOnly: !process.env.CI,
    reporters: ['default', './test/support/plain-reporter.ts'],
  },
})
