import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Files that take long for their size. Started last, which is their position by size, they would make one worker wait
 * for the other for more than a minute. Longest first.
 */
const LONG = [
  'chaos/chaos-run',
  'e2e/rolling-restart',
  'integration/sessions/export',
  'chaos/disconnects',
  'integration/presence/faults',
  'cli/watch',
  'e2e/gateway-crash-control',
  'e2e/many-processes',
  'e2e/cluster',
  'e2e/demo',
  'e2e/one-process',
  'browser/published-packages',
  'e2e/demo-payments',
  'integration/webhooks/worker-crash',
  'integration/sessions/lifecycle-model',
  'integration/payments/payments-model',
  'gateway/control-model',
].map((name) => `/test/${name}.test.ts`)

const rank = ({ moduleId }: TestSpecification) => {
  const index = LONG.findIndex((end) => moduleId.endsWith(end))
  return index < 0 ? LONG.length : index
}

/** Begins with these files; vitest orders the rest. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}
