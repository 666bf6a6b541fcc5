/** Returns milliseconds of the machine's monotonic clock, which all its processes share. */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6

/** A period, in milliseconds of the monotonic clock. */
export type Span = readonly [fromMs: number, toMs: number]

const TICK_MS = 10
/** A process that did not run for this long may have caused a halt. */
const PAUSE_MS = 60
const MOST_PAUSES = 10_000

/** Records when this process did not run, so that a halt is not blamed on a transport. */
export function watchPauses() {
  let pauses: Span[] = []
  let lastMs = monotonicMs()
  const timer = setInterval(() => {
    const nowMs = monotonicMs()
    if (nowMs - lastMs > PAUSE_MS && pauses.length < MOST_PAUSES) pauses.push([lastMs, nowMs])
    lastMs = nowMs
  }, TICK_MS)
  timer.unref()
  return {
    reset(): void {
      pauses = []
    },
    report: (): Span[] => pauses,
  }
}
