import { ExportProblem } from '../../../core/exports/export-problem.ts'
import type { McapFileReader } from '../../recordings/mcap/index.ts'
import { readFrames } from './camera-frames.ts'
import { fixedColumns } from './data-columns.ts'
import { periodOf } from './dataset-input.ts'
import type { CameraPlan } from './dataset-plan.ts'
import type { EpisodeContext } from './episode-context.ts'
import { readRows } from './episode-rows.ts'
import type { CameraScan } from './episode-scan.ts'
import type { ParquetFile } from './parquet-file.ts'
import { isSampled } from './pixel-stats.ts'
import { keyAtOrBefore, shownFrames } from './row-clock.ts'
import { RowGroups } from './row-groups.ts'
import { rowPictures } from './row-pictures.ts'
import { type MergeableStats, RunningStats } from './running-stats.ts'

/** Returns the frames of a camera that show the rows of an episode, and the one from which a decoder has to start. */
export function shownRange(scan: CameraScan, rowTimes: Float64Array) {
  const shown = shownFrames(scan.times, rowTimes)
  const from = keyAtOrBefore(scan, shown[0] ?? -1)
  return { shown, range: { from, to: (shown.at(-1) ?? -1) + 1 } }
}

export const scanOf = ({ scans, episode }: EpisodeContext, { name }: CameraPlan): CameraScan => {
  const scan = scans.get(name)
  if (!scan)
    throw new ExportProblem(
      `The camera ${name} has no pictures in the episode ${episode.id}. Start the export again.`,
    )
  return scan
}

function picturesOf(
  context: EpisodeContext,
  reader: McapFileReader,
  camera: CameraPlan,
): AsyncGenerator<Uint8Array> {
  const { episode, layout, codecs } = context
  const scan = scanOf(context, camera)
  const { shown, range } = shownRange(scan, layout.rowTimes)
  return rowPictures(readFrames(reader, periodOf(episode), scan, range), {
    camera: camera.name,
    format: scan.format ?? 'jpeg',
    size: camera.size,
    shown,
    codecs,
  })
}

/** Writes the rows of an episode. Returns the statistics of its features. */
export async function writeRows(
  context: EpisodeContext,
  file: ParquetFile,
): Promise<ReadonlyMap<string, MergeableStats>> {
  const { plan, episode, layout, counts, pixels } = context
  const reader = await context.openReader()
  const stats = new Map(plan.vectors.map(({ key, slots }) => [key, new RunningStats(slots.length)]))
  for (const key of Object.keys(fixedColumns)) stats.set(key, new RunningStats(1))
  const groups = new RowGroups(context, file, stats)
  const cameras = plan.cameras.filter(({ mode }) => mode === 'images')
  const sources = cameras.map((camera) => ({
    key: camera.key,
    pictures: picturesOf(context, reader, camera),
  }))
  const rows = readRows(reader, periodOf(episode), plan, layout.rowTimes, counts)
  try {
    let row = 0
    for await (const values of rows) {
      const pictures = new Map<string, Uint8Array>()
      for (const { key, pictures: source } of sources) {
        const { value } = await source.next()
        if (!value) throw new Error(`the pictures of ${key} end before the rows`)
        pictures.set(key, value)
        if (isSampled(row, layout.rowTimes.length)) await pixels.get(key)?.addJpeg(value)
      }
      await groups.add(values, pictures)
      row++
    }
    await groups.flush()
  } finally {
    for (const { pictures } of sources) await pictures.return(undefined)
  }
  return new Map([...stats].map(([key, running]) => [key, running.result()]))
}
