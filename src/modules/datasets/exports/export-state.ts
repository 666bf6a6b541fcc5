import { type RawBuilder, sql } from 'kysely'
import { noCounts, type ResamplingCounts } from '../lerobot/resampler.ts'
import type { MergeableStats } from '../lerobot/running-stats.ts'

/** How far the job of an export is. It changes with the files of a part, in one transaction. */
export interface ExportState {
  /** The newest attempt, the only one that may store files; empty before the first one. */
  readonly attemptId: string
  /** Episodes that are in stored files. The next part begins with the one after. */
  readonly doneEpisodes: number
  /** Number of the files of the next part. */
  readonly nextFile: number
  readonly frames: number
  readonly stats: Readonly<Record<string, MergeableStats>>
  readonly counts: ResamplingCounts
}

export const initialState: ExportState = {
  attemptId: '',
  doneEpisodes: 0,
  nextFile: 0,
  frames: 0,
  stats: {},
  counts: noCounts(),
}

/** Returns a value for a column of JSON. The driver would send an array as an array of PostgreSQL. */
export const jsonb = <T>(value: T): RawBuilder<T> => sql<T>`${JSON.stringify(value)}::jsonb`
