import { ExportProblem } from '../../../core/exports/export-problem.ts'
import { ObjectMissingError } from '../../../core/storage/object-store.ts'
import { type McapFileReader, readMcapFile } from '../../recordings/mcap/index.ts'
import type { EpisodePeriod } from './episode-scan.ts'
import type { DatasetStore } from './stored-file.ts'

const NS_PER_MS = 1_000_000n
/** Recordings are read from start to end, so large requests are faster. */
const BLOCK_BYTES = 2 * 1024 * 1024

/** An episode to export. Times are Unix milliseconds. */
export interface EpisodeInput {
  readonly id: string
  /** Its number in the dataset. */
  readonly index: number
  readonly task: string
  readonly taskIndex: number
  /** Whether the task succeeded; null when that is unknown. */
  readonly success: boolean | null
  readonly startMs: number
  readonly endMs: number
  readonly recording: { readonly key: string; readonly sizeBytes: number }
}

export const periodOf = ({ startMs, endMs }: EpisodeInput): EpisodePeriod => ({
  startNs: BigInt(startMs) * NS_PER_MS,
  endNs: BigInt(endMs) * NS_PER_MS,
})

/** Opens recordings. Keeps the newest one, because episodes of a recording follow one after the other. */
export function createRecordings(store: Pick<DatasetStore, 'readBytes'>) {
  let newest: { key: string; reader: McapFileReader } | undefined
  return async ({ id, recording }: EpisodeInput): Promise<McapFileReader> => {
    if (newest?.key === recording.key) return newest.reader
    try {
      const reader = await readMcapFile(store, recording, BLOCK_BYTES)
      newest = { key: recording.key, reader }
      return reader
    } catch (cause) {
      if (!(cause instanceof ObjectMissingError)) throw cause
      throw new ExportProblem(
        `The recording of the episode ${id} was deleted during the export. Export the other episodes again.`,
      )
    }
  }
}
