/** The clock that links put into their frames: Unix milliseconds, but it never jumps when the wall clock is set. */
export function linkClockMs(): number {
  return performance.timeOrigin + performance.now()
}
