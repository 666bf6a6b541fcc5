import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig, type TestProjectConfiguration } from 'vitest/config'
import { WAIT_LIMIT_MS } from './test/support/wait-limit.ts'

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

/** The tests that run over each of the `buses` of test/support. */
const testsOfBuses = [
  'test/fast/hub/{event-delivery,handshake-and-commands,log-replay}.test.ts',
  'test/fast/contract/plain-clients.test.ts',
  'test/fast/core/outbox.test.ts',
  'test/fast/sessions/main-flow.test.ts',
]

interface Tier {
  readonly workers: number
  readonly groupOrder: number
  /** Files of other tiers that run again in this one. */
  readonly again?: string[]
  readonly env?: Record<string, string>
}

/**
 * Returns a tier: the folder of test/ with this name, or lab/, whose tests run against a real PostgreSQL and a real Redis after the
 * tier before it.
 */
const tier = (
  name: 'fast' | 'smoke' | 'full' | 'lab',
  { workers, groupOrder, again = [], env = {} }: Tier,
): TestProjectConfiguration => ({
  extends: true,
  test: {
    name,
    include: [name === 'lab' ? 'lab/**/*.test.ts' : `test/${name}/**/*.test.ts`, ...again],
    env,
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
    hookTimeout: 900_000,
    expect: { poll: { timeout: WAIT_LIMIT_MS, interval: 10 } },
    retry: 0,
    restoreMocks: true,
    // A forgotten .only would skip all other tests unnoticed.
    allowOnly: !process.env.CI,
    reporters: [
      'default',
      './test/support/runner/slow-files-reporter.ts',
      './test/support/runner/failed-files-reporter.ts',
      './test/support/runner/plain-reporter.ts',
    ],
    projects: [
      unit,
      // Tests of the fast tier wait as long as they compute; the others start programs and browsers.
      tier('fast', { workers: 2 * cores + 1, groupOrder: 1 }),
      tier('smoke', { workers: cores, groupOrder: 2 }),
      tier('full', {
        workers: cores + 2,
        groupOrder: 3,
        // Models: fifty times as many runs as in the fast tier. Tests of the bus: also over the bus in memory.
        again: ['test/fast/**/*-model.test.ts', ...testsOfBuses],
        env: { MODEL_RUNS: '1000', ALL_BUSES: 'true' },
      }),
      tier('lab', { workers: cores + 2, groupOrder: 4 }),
    ],
  },
})
