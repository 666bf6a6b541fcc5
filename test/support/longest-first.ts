import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Files that take long for what stands in them: begun last, as by their size they would be, one worker waits for the
 * other for more than a minute. Longest first.
 */
const LONG = [
  ...['e2e/chaos', 'e2e/rolling-restart', 'export', 'disconnects', 'presence-faults', 'cli-live-watch'],
  ...['e2e/driving', 'e2e/many-processes', 'e2e/cluster', 'demo', 'e2e/one-process', 'packages-platform'],
  ...['demo-payments', 'webhooks-crash', 'sessions-model', 'payments-model', 'driving-model'],
].map((name) => `/test/${name}.test.ts`)

const rank = ({ moduleId }: TestSpecification) => {
  const index = LONG.findIndex((end) => moduleId.endsWith(end))
  return index < 0 ? LONG.length : index
}

/** Begins with what takes long; the rest in the order of vitest. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}
