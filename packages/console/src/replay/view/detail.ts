import type { Overview } from '../data/overview.ts'
import type { TimeRange } from '../player/clock.ts'
import type { Replay } from '../player/replay.ts'

/** A view of less than this share of the overview's buckets is read in more detail. */
const COARSE_BUCKETS = 600
/** A longer range is not read again: it may contain gigabytes of video. */
const LONGEST_MS = 15 * 60_000
/** How much more than the view is read on each side, so that small movements need no reading. */
const MARGIN = 0.5

const covers = ({ originMs, widthMs, passed }: Overview, { fromMs, toMs }: TimeRange) =>
  originMs <= fromMs && originMs + widthMs * passed.length >= toMs

/** Returns the data that shows a range best. */
export function overviewFor({ overview }: Replay, range: TimeRange): Overview | undefined {
  const { overview: whole, detail } = overview.state.get()
  return detail && whole && covers(detail, range) && detail.widthMs < whole.widthMs ? detail : whole
}

/** Requests more detail when the view needs it. */
export function requestDetail(replay: Replay, range: TimeRange): void {
  const { overview: whole, detail } = replay.overview.state.get()
  const span = range.toMs - range.fromMs
  if (!whole || span > LONGEST_MS || span / whole.widthMs > COARSE_BUCKETS) return
  const isDetailed = detail && covers(detail, range) && span / detail.widthMs > COARSE_BUCKETS
  if (isDetailed) return
  const limits = replay.clock.limits.get()
  replay.overview.requestDetail({
    fromMs: Math.max(limits.fromMs, range.fromMs - span * MARGIN),
    toMs: Math.min(limits.toMs, range.toMs + span * MARGIN),
  })
}
