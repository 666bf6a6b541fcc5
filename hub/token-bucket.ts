const COMMANDS_PER_SECOND = 30
const BURST = 60

/** Creates a token bucket, which limits the commands of one socket. */
export function createTokenBucket(monotonicMs: () => number = () => performance.now()) {
  let tokens = BURST
  let refilledMs = monotonicMs()
  return {
    /** Takes a token; returns false if none is left. */
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
