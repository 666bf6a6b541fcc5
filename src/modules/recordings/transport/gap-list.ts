import type { Period } from './sample-backlog.ts'

/** Records that were left out within this time are one gap. */
const SEPARATE_MS = 1_000
/** Gaps that are kept until they can be reported. Then the last one grows. */
const MAX_GAPS = 16

type Gap = Period & { readonly reason: 'overload' | 'recorder_lost' | 'packets_lost' }

/** The gaps of a stream that are not reported yet. */
export class GapList {
  #gaps: Gap[] = []

  add(reason: Gap['reason'], period: Period): void {
    const index = this.#gaps.findLastIndex((gap) => gap.reason === reason)
    const last = this.#gaps[index]
    if (last && (period.fromMs - last.toMs < SEPARATE_MS || this.#gaps.length >= MAX_GAPS))
      this.#gaps[index] = { reason, ...union(last, period) }
    else this.#gaps.push({ reason, ...period })
  }

  /** Removes the gaps that end before a time. */
  removeUpTo(atMs: number): void {
    this.#gaps = this.#gaps.filter(({ toMs }) => toMs > atMs)
  }

  /** Returns the gaps, and empties the list. */
  take(): Gap[] {
    const taken = this.#gaps
    this.#gaps = []
    return taken
  }
}

/** Returns the shortest period that contains both. */
export function union(a: Period | undefined, { fromMs, toMs }: Period): Period {
  return a ? { fromMs: Math.min(a.fromMs, fromMs), toMs: Math.max(a.toMs, toMs) } : { fromMs, toMs }
}
