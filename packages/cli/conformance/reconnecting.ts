import { type Finding, inMs, judge } from './rule.ts'

/** How long attempts are watched. */
export const BACKOFF_WATCH_MS = 6_000
/** With growing delays the sixth attempt comes after 4 s on average; a thirteenth in the time is as good as impossible. */
const MAX_BACKOFF_ATTEMPTS = 12
/** Delays that are equal, or that double, to this extent are not random. */
const RANDOM_SPREAD = 0.05
const MIN_GAPS = 4
const MAX_SHOWN = 8

/** Judges the times of the attempts of a program that is refused. */
export function judgeBackoff(times: readonly number[]): Finding {
  const gaps = times.slice(1).map((atMs, index) => atMs - (times[index] ?? atMs))
  const measured = `${times.length} attempts; delays ${gaps.slice(0, MAX_SHOWN).map(inMs).join(', ') || 'none'}`
  const limit = `2 to ${MAX_BACKOFF_ATTEMPTS} attempts in ${BACKOFF_WATCH_MS / 1_000} s, with random, growing delays`
  const near = (value: number, other: number) => Math.abs(value - other) <= RANDOM_SPREAD * other
  const follows = (factor: number) =>
    gaps.length >= MIN_GAPS && gaps.slice(1).every((gap, index) => near(gap, factor * (gaps[index] ?? gap)))
  const isRandom = !follows(1) && !follows(2)
  return judge(gaps.length > 0 && times.length <= MAX_BACKOFF_ATTEMPTS && isRandom, measured, limit)
}
