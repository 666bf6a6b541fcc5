const COMMANDS_PER_SECOND = 30
const BURST = 60

/** A token bucket: how many commands one socket may send. */
export function createTokenBucket(monotonicMs: () => number = () => performance.now()) {
  let tokens = BURST
  let refilledMs = monotonicMs()
  return {
    /** Takes one command out of the allowance; false when it is used up. */
    take(): boolean {
      const nowMs = monotonicMs()
      tokens = Math.min(BURST, tokens + ((nowMs - refilledMs) / 1_000) * COMMANDS_PER_SECOND)
      refilledMs = nowMs
      if (tokens < 1) return false
      tokens -= 1
      return true
    },
  }
}
