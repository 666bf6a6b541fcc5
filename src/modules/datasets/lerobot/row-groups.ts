import { dataValues, fixedVectors, type RowContext } from './data-columns.ts'
import type { EpisodeContext } from './episode-context.ts'
import type { ParquetFile } from './parquet-file.ts'
import type { Row } from './resampler.ts'
import type { RunningStats } from './running-stats.ts'

/** Numbers, rows and bytes of pictures of a row group at most. */
const GROUP_NUMBERS = 250_000
const GROUP_ROWS = 8_192
const GROUP_PICTURE_ROWS = 256
const GROUP_PICTURE_BYTES = 16 * 1024 * 1024

/** Collects the rows of a row group, and writes it when it is large enough. */
export class RowGroups {
  readonly #context: EpisodeContext
  readonly #file: ParquetFile
  readonly #rowContext: RowContext
  readonly #stats: ReadonlyMap<string, RunningStats>
  readonly #maxRows: number
  #rows: Row[] = []
  #pictures = new Map<string, Uint8Array[]>()
  #pictureBytes = 0
  #from = 0

  constructor(context: EpisodeContext, file: ParquetFile, stats: ReadonlyMap<string, RunningStats>) {
    const { plan, episode, layout, firstIndex } = context
    this.#context = context
    this.#file = file
    this.#stats = stats
    this.#rowContext = {
      episodeIndex: episode.index,
      taskIndex: episode.taskIndex,
      success: episode.success,
      fps: plan.fps,
      firstIndex,
      episodeRows: layout.rowTimes.length,
    }
    const numbers = plan.vectors.reduce((sum, { slots }) => sum + slots.length, 1)
    const hasPictures = plan.cameras.some(({ mode }) => mode === 'images')
    const byNumbers = Math.max(1, Math.floor(GROUP_NUMBERS / numbers))
    this.#maxRows = Math.min(byNumbers, hasPictures ? GROUP_PICTURE_ROWS : GROUP_ROWS)
  }

  async add(row: Row, pictures: ReadonlyMap<string, Uint8Array>): Promise<void> {
    this.#rows.push(row)
    for (const [key, bytes] of pictures) {
      const list = this.#pictures.get(key) ?? []
      list.push(bytes)
      this.#pictures.set(key, list)
      this.#pictureBytes += bytes.length
    }
    const isFull = this.#rows.length >= this.#maxRows || this.#pictureBytes >= GROUP_PICTURE_BYTES
    if (isFull) await this.flush()
  }

  async flush(): Promise<void> {
    const [rows, from] = [this.#rows, this.#from]
    if (rows.length === 0) return
    const { plan, progress } = this.#context
    for (const { key, values } of fixedVectors(rows, from, this.#rowContext))
      for (const value of values) this.#stats.get(key)?.add(value)
    for (const [index, { key }] of plan.vectors.entries())
      for (const { vectors } of rows) this.#stats.get(key)?.add(vectors[index] as Float32Array)
    await this.#file.write(dataValues(plan, rows, this.#pictures, from, this.#rowContext), rows.length)
    this.#from += rows.length
    this.#rows = []
    this.#pictures = new Map()
    this.#pictureBytes = 0
    progress(rows.length)
  }
}
