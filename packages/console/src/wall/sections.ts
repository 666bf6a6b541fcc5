import type { LiveRobot } from '../status/live-robots.tsx'
import type { TrustState } from '../status/trust.ts'
import { language } from '../texts/texts.ts'

/** The parts of the wall, in display order. `rows`: idle robots without a picture. */
const SECTIONS = ['needs', 'driving', 'ready', 'rows'] as const
export type SectionName = (typeof SECTIONS)[number]

/** A robot in its place on the wall. */
export interface Placed {
  readonly robot: LiveRobot
  readonly section: SectionName
}

/** What a tile has seen of its picture for a while, and since when, in Unix milliseconds. */
export type Seen = ReadonlyMap<string, { readonly state: TrustState; readonly sinceMs: number }>

/** Returns since when a robot in a session needs its owner, in Unix milliseconds; undefined if it does not. */
function needSinceMs({ id, state, session }: LiveRobot, seen: Seen): number | undefined {
  if (!session) return undefined
  if (session.stop) return Date.parse(session.stop.at)
  if (state === 'LOST' || session.ends_at !== null) return Date.parse(session.paused_at ?? session.started_at)
  if (session.requested_minutes !== null || session.asks_for_control !== null)
    return Date.parse(session.started_at)
  const picture = seen.get(id)
  return picture?.state === 'BLIND' || picture?.state === 'DELAYED' ? picture.sinceMs : undefined
}

export const hasPicture = ({ camera, stream_url }: LiveRobot) => camera !== null || stream_url !== ''

const collator = new Intl.Collator(language, { numeric: true })
const byName = (a: LiveRobot, b: LiveRobot) => collator.compare(a.name, b.name) || (a.id < b.id ? -1 : 1)

/**
 * Returns the robots in their places: those that need their owner first, oldest first, the others by name.
 * @param before the last places, while nothing may move; new robots are then the last ones of their section
 */
export function placed(robots: readonly LiveRobot[], seen: Seen, before?: readonly Placed[]): Placed[] {
  const sinceMs = new Map(robots.map((robot) => [robot.id, needSinceMs(robot, seen)]))
  const sectionOf = (robot: LiveRobot): SectionName => {
    if (sinceMs.get(robot.id) !== undefined) return 'needs'
    if (robot.session) return 'driving'
    return hasPicture(robot) ? 'ready' : 'rows'
  }
  const old = new Map(before?.map(({ robot, section }, index) => [robot.id, { section, index }]))
  const place = ({ robot, section }: Placed) =>
    SECTIONS.indexOf(section) * 1e6 + (old.get(robot.id)?.index ?? old.size)
  return [...robots]
    .sort((a, b) => (sinceMs.get(a.id) ?? 0) - (sinceMs.get(b.id) ?? 0) || byName(a, b))
    .map((robot) => ({ robot, section: old.get(robot.id)?.section ?? sectionOf(robot) }))
    .sort((a, b) => place(a) - place(b))
}

export type Counts = Readonly<Record<SectionName, number>>
export type TileSize = 'S' | 'M' | 'L'

/** How the tiles of each section are laid out. */
export interface WallLayout {
  readonly columns: Counts
  /** The height of a tile that is not 16:9: a few robots fill the window. */
  readonly tilePx: number | undefined
}

/** In pixels, as in the style sheet: between tiles, a heading with its margin, and a row of text. */
export const GAP_PX = 10
const HEADING_PX = 40
const ROW_PX = 44

/** A narrower window scrolls. */
const FITTING_PX = 1_000
/** How many more columns than usual there may be: the first one with which everything fits. */
const SCALES = [0.5, 0.6, 0.75, 0.875, 1, 1.2, 1.4, 1.6, 1.8, 2, 2.2]

/** Returns the number of columns of each section, so that everything fits into the window if that is possible. */
export function layoutOf(
  counts: Counts,
  size: TileSize,
  box: { readonly widthPx: number; readonly heightPx: number },
): WallLayout {
  const { widthPx, heightPx } = box
  const tiles = counts.needs + counts.driving + counts.ready
  const scaled = (factor: number): Counts => {
    const [needs, driving, ready, rows] = usualColumns(tiles, widthPx).map((columns) =>
      Math.max(1, Math.round(columns * factor)),
    ) as [number, number, number, number]
    return { needs, driving, ready, rows }
  }
  if (size === 'L') return { columns: scaled(0.6), tilePx: undefined }
  if (size === 'S') return { columns: scaled(1.5), tilePx: undefined }
  if (widthPx < FITTING_PX) return { columns: scaled(1), tilePx: undefined }
  if (tiles <= 4 && tiles > 0 && counts.rows === 0) {
    const columns = tiles === 1 ? 1 : 2
    const rows = Math.ceil(tiles / columns)
    const tilePx = (heightPx - (rows - 1) * GAP_PX) / rows
    const all = { needs: columns, driving: columns, ready: columns, rows: columns }
    return { columns: all, tilePx: Math.min(tilePx, (widthPx / columns) * 0.75) }
  }
  const fits = (columns: Counts) => heightOf(counts, columns, widthPx) <= heightPx
  let columns = SCALES.map(scaled).find(fits)
  if (!columns) return { columns: scaled(1), tilePx: undefined }
  // What is left of the height goes to the most important sections.
  for (const section of SECTIONS) {
    while (columns[section] > 2 && fits({ ...columns, [section]: columns[section] - 1 }))
      columns = { ...columns, [section]: columns[section] - 1 }
  }
  return { columns, tilePx: undefined }
}

const usualColumns = (tiles: number, widthPx: number): readonly number[] => {
  if (widthPx < 600) return [1, 1, 2, 1]
  if (widthPx < FITTING_PX) return [2, 2, 4, 2]
  return tiles <= 12 ? [4, 4, 4, 4] : [4, 5, 8, 4]
}

function heightOf(counts: Counts, columns: Counts, widthPx: number): number {
  const heights = SECTIONS.map((section) => {
    const rows = Math.ceil(counts[section] / columns[section])
    const tilePx =
      section === 'rows'
        ? ROW_PX
        : (((widthPx - (columns[section] - 1) * GAP_PX) / columns[section]) * 9) / 16
    return rows === 0 ? 0 : HEADING_PX + rows * (tilePx + GAP_PX)
  })
  return heights.reduce((sum, height) => sum + height, 0)
}
