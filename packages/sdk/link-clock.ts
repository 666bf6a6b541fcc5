/** Returns Unix milliseconds from a monotonic clock, for the times in frames. It ignores changes of the wall clock. */
export function linkClockMs(): number {
  return performance.timeOrigin + performance.now()
}
