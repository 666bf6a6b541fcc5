import type { Bookmark, RecordedEpisode } from '../../recording/recordings.ts'
import type { Overview } from '../data/overview.ts'
import type { TimeRange } from '../player/clock.ts'
import type { LogEntry } from './log-entries.ts'
import type { GapSpan, StateSpan } from './spans.ts'

export interface EpisodeSpan extends TimeRange {
  readonly episode: RecordedEpisode
}

export interface Mark extends TimeRange {
  readonly bookmark: Bookmark
}

/** The contents of the tracks of the time axis. */
export interface Tracks {
  readonly episodes: readonly EpisodeSpan[]
  readonly states: readonly StateSpan[]
  readonly gaps: readonly GapSpan[]
  readonly entries: readonly LogEntry[]
  readonly marks: readonly Mark[]
  readonly overview: Overview | undefined
}

/** The tracks from top to bottom, with their heights in pixels. */
export const TRACK_HEIGHTS = { ruler: 24, episodes: 20, state: 16, commands: 20, marks: 20 } as const
export type TrackName = keyof typeof TRACK_HEIGHTS

export const TRACKS_HEIGHT: number = Object.values(TRACK_HEIGHTS).reduce((sum, height) => sum + height, 0)

/** Returns the track at a height, and its upper edge. */
export function trackAt(y: number): TrackName | undefined {
  let top = 0
  for (const [name, height] of Object.entries(TRACK_HEIGHTS)) {
    if (y >= top && y < top + height) return name as TrackName
    top += height
  }
  return undefined
}

/** Space on the left for the names of tracks and the numbers of axes, and on the right for the last label. */
export const GUTTER_PX = 72
export const END_PX = 14

/** Converts between times and places on an axis of a width. */
export function axisOf({ fromMs, toMs }: TimeRange, widthPx: number) {
  const inner = Math.max(1, widthPx - GUTTER_PX - END_PX)
  return {
    xOf: (atMs: number) => GUTTER_PX + ((atMs - fromMs) / (toMs - fromMs)) * inner,
    timeAt: (x: number) => fromMs + ((x - GUTTER_PX) / inner) * (toMs - fromMs),
    msPerPx: (toMs - fromMs) / inner,
    left: GUTTER_PX,
    right: GUTTER_PX + inner,
  }
}
export type Axis = ReturnType<typeof axisOf>
