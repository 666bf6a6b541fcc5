const FIRST_MS = 500
const LONGEST_MS = 30_000

/** Counts failed attempts in a row, and makes the delay before the next one longer with each. */
export function createRetryDelay() {
  let failures = 0
  return {
    /** Notes a failure. Returns how long to wait before the next attempt. */
    failed: (): number => Math.min(LONGEST_MS, FIRST_MS * 2 ** failures++),
    succeeded(): void {
      failures = 0
    },
  }
}
