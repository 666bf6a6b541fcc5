import { dropText, gapText, reasonText } from '../../texts/code-texts.ts'
import { language, t } from '../../texts/texts.ts'
import type { Overview } from '../data/overview.ts'
import { episodeResult } from './episode-result.ts'
import { preciseClock, wallClock } from './replay-time.ts'
import { type StateSpan, spanAt } from './spans.ts'
import type { Axis, TrackName, Tracks } from './tracks.ts'

/** How near the pointer must be to a small mark. */
const REACH_PX = 6
const MAX_ENTRIES = 4
/** Operators send commands more often than twice in this time. */
const COMMAND_REACH_MS = 100

const counts = new Intl.NumberFormat(language)

const stateTexts: Readonly<Record<StateSpan['kind'], string>> = {
  stopped: t('replay.state.stopped'),
  paused: t('replay.state.paused'),
  offline: t('replay.state.offline'),
  halted: t('replay.state.halted'),
}

/** Returns the time of a place on the axis, as the start of a tip. */
export const timeTip = (atMs: number, startMs: number): string =>
  `${preciseClock(atMs - startMs, 2)} · ${wallClock(atMs)}`

/** Returns what a track shows at a time, as lines of text. */
export function trackTip(track: TrackName | undefined, atMs: number, tracks: Tracks, axis: Axis): string[] {
  const reach = REACH_PX * axis.msPerPx
  const gap = spanAt(tracks.gaps, atMs, reach / 2)
  const gapLines = gap ? [t('replay.tip.gap', { reason: gapText(gap.reason) }), length(gap)] : []
  if (track === 'episodes') return [...episodeTip(tracks, atMs), ...gapLines]
  if (track === 'state') return [...stateTip(tracks, atMs, reach), ...gapLines]
  if (track === 'commands') return [...commandTip(tracks.overview, atMs, reach), ...gapLines]
  if (track === 'marks') return [...markTip(tracks, atMs, reach), ...gapLines]
  return gapLines
}

const length = ({ fromMs, toMs }: { fromMs: number; toMs: number }) =>
  t('replay.tip.length', { length: preciseClock(toMs - fromMs) })

function episodeTip(tracks: Tracks, atMs: number): string[] {
  const found = spanAt(tracks.episodes, atMs, 0)
  if (!found) return []
  return [found.episode.task ?? t('replay.marks.noTask'), episodeResult(found.episode), length(found)]
}

function stateTip(tracks: Tracks, atMs: number, reach: number): string[] {
  const found = spanAt(tracks.states, atMs, reach / 2)
  if (!found) return []
  const reason = found.stop ? reasonText(found.stop.reason) : ''
  const state = stateTexts[found.kind]
  return [reason ? t('replay.tip.because', { state, reason }) : state, length(found)]
}

/** Counts the commands around a time: between two of them a bucket may be empty. */
function commandTip(overview: Overview | undefined, atMs: number, reach: number): string[] {
  if (!overview) return []
  const { originMs, widthMs } = overview
  const middle = Math.floor((atMs - originMs) / widthMs)
  const margin = Math.ceil(Math.max(reach / 2, COMMAND_REACH_MS) / widthMs)
  const [first, last] = [Math.max(0, middle - margin), middle + margin]
  const sum = (values: Uint32Array) => values.subarray(first, last + 1).reduce((a, b) => a + b, 0)
  const passed = sum(overview.passed)
  const dropped = [...overview.dropped]
    .map(([why, values]) => [why, sum(values)] as const)
    .filter(([, count]) => count > 0)
  if (passed === 0 && dropped.length === 0) return []
  return [
    t('replay.tip.passed', { commands: counts.format(passed) }),
    ...dropped.map(([why, count]) =>
      t('replay.tip.dropped', { commands: counts.format(count), reason: dropText(why) }),
    ),
    t('replay.tip.within', { length: preciseClock((last + 1 - first) * widthMs, 2) }),
  ]
}

function markTip(tracks: Tracks, atMs: number, reach: number): string[] {
  const near = tracks.entries.filter((entry) => Math.abs(entry.atMs - atMs) <= reach)
  return [
    ...tracks.marks
      .filter((mark) => Math.abs(mark.fromMs - atMs) <= reach)
      .map(({ bookmark }) => t('replay.tip.bookmark', { label: bookmark.label, user: bookmark.user_name })),
    ...near
      .slice(0, MAX_ENTRIES)
      .map(({ text, sender }) => (sender === undefined ? text : t('replay.tip.chat', { sender, text }))),
    ...(near.length > MAX_ENTRIES ? [t('replay.tip.more', { entries: near.length - MAX_ENTRIES })] : []),
  ]
}
