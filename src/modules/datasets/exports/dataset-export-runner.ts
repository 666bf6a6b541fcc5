import { randomUUID } from 'node:crypto'
import { mkdir, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { CoreServices } from '../../../core/core-services.ts'
import type { Db } from '../../../core/database/tables.ts'
import { type ExportJob, exportClaimLost } from '../../../core/exports/exports.ts'
import { type Attempt, ClaimLostError } from '../../../core/jobs/queue.ts'
import type { ObjectStore } from '../../../core/storage/object-store.ts'
import type { EpisodeInput } from '../lerobot/dataset-input.ts'
import type { DatasetPlan } from '../lerobot/dataset-plan.ts'
import type { PartResult } from '../lerobot/part-input.ts'
import { mergeStats } from '../lerobot/running-stats.ts'
import type { DatasetExportRow } from './dataset-export.view.ts'
import { type DatasetObjects, exportPrefix } from './dataset-objects.ts'
import { type DatasetThread, startDatasetThread } from './dataset-thread.ts'
import { type ExportedEpisodes, loadEpisodes } from './export-episodes.ts'
import { type FinishExport, fileRow } from './export-finish.ts'
import { type ExportState, jsonb } from './export-state.ts'

const REPORT_MS = 1_000
/** The progress of a job is a whole number of steps. */
const STEPS = 1_000

/**
 * Stores the progress of an export about once a second. Aborts the attempt when the export is not running any more, because its user
 * deleted it.
 */
function createExportProgress(db: Db, attempt: Attempt<ExportJob>, report: (cause: unknown) => void) {
  const stopped = new AbortController()
  let reportedMs = 0
  let storing: Promise<void> | undefined

  async function store(progress: number): Promise<void> {
    const { numUpdatedRows } = await db
      .updateTable('dataset_exports')
      .set((eb) => ({ progress: eb.fn<number>('greatest', ['progress', eb.val(progress)]) }))
      .where('id', '=', attempt.data.exportId)
      .where('status', '=', 'RUNNING')
      .executeTakeFirst()
    if (numUpdatedRows === 0n) stopped.abort(new ClaimLostError('The export was deleted'))
    else await attempt.progress(Math.round(progress * STEPS), STEPS)
  }

  return {
    signal: AbortSignal.any([attempt.signal, stopped.signal]),
    /** Reports the progress, from 0 to 1. */
    update(progress: number): void {
      const nowMs = performance.now()
      if (storing || nowMs - reportedMs < REPORT_MS) return
      reportedMs = nowMs
      storing = store(Math.min(1, Math.max(0, progress)))
        .catch(report)
        .finally(() => {
          storing = undefined
        })
    },
    /** Waits for the last report. */
    settled: async (): Promise<void> => await storing,
  }
}

/**
 * Time and episodes of a part at most. LeRobot compares the times of frames in a video as 32-bit floats with a tolerance of 0.1 ms,
 * which they keep for about 1,000 s.
 */
const MAX_PART_MS = 900_000
const MAX_PART_EPISODES = 500

const durationOf = ({ startMs, endMs }: EpisodeInput): number => endMs - startMs

/** Returns the episodes of the next part, at least one. */
function nextPart(episodes: readonly EpisodeInput[], done: number): EpisodeInput[] {
  const part: EpisodeInput[] = []
  let durationMs = 0
  for (const episode of episodes.slice(done, done + MAX_PART_EPISODES)) {
    durationMs += durationOf(episode)
    if (part.length > 0 && durationMs > MAX_PART_MS) break
    part.push(episode)
  }
  return part
}

/** The part of the progress that the planning takes. */
const PLANNING = 0.1

const planningProgress = (done: number): number => PLANNING * done

/** Returns the progress of an export: of the episodes that are stored, and of the part that is being written. */
function writingProgress(
  episodes: readonly EpisodeInput[],
  doneEpisodes: number,
  part: { readonly episodes: number; readonly done: number },
): number {
  const sum = (from: number, to: number) =>
    episodes.slice(from, to).reduce((total, episode) => total + durationOf(episode) + 1, 0)
  const total = sum(0, episodes.length)
  const current = sum(doneEpisodes, doneEpisodes + part.episodes)
  return PLANNING + (1 - PLANNING) * ((sum(0, doneEpisodes) + current * part.done) / total)
}

/** The parts of an attempt. */
interface Run {
  readonly attempt: Attempt<ExportJob>
  readonly exported: ExportedEpisodes
  readonly thread: DatasetThread
  /** Prefix of the keys of the objects of this attempt. */
  readonly keyPrefix: string
  /** Sets how the progress of the thread's task becomes that of the export. */
  readonly onProgress: (progressOf: (done: number) => number) => void
}

/**
 * Creates the handler that exports datasets part by part. The files of a part and the position after it are one commit that only the
 * next part in order of the newest attempt can make, so an attempt after a crash, or two attempts at once, never repeat an episode.
 */
export function createDatasetExportRunner(
  deps: Pick<CoreServices, 'db' | 'transact' | 'now' | 'report'> & {
    storage: ObjectStore
    objects: DatasetObjects
    finish: FinishExport
    /** A folder for temporary files. */
    tempDir: string
  },
) {
  const { db, transact, report, storage, objects, finish, tempDir } = deps

  /**
   * Returns the export to write; undefined when it is finished, or its user has deleted it. An earlier attempt that still runs, because
   * it stalled, cannot commit any more.
   */
  const begin = (exportId: string, attemptId: string): Promise<DatasetExportRow | undefined> =>
    db
      .updateTable('dataset_exports')
      .set({ status: 'RUNNING', state: sql`state || ${jsonb({ attemptId })}` })
      .where('id', '=', exportId)
      .where('status', 'in', ['PENDING', 'RUNNING'])
      .returningAll()
      .executeTakeFirst()

  async function plan({ exported, thread, onProgress }: Run, row: DatasetExportRow): Promise<DatasetPlan> {
    if (row.plan) return row.plan
    onProgress(planningProgress)
    const { episodes, cameras } = exported
    const made = await thread.run('plan', {
      fps: row.fps,
      alignment: row.alignment,
      align: row.align,
      episodes,
      cameras,
      isChosen: row.cameras !== null,
    })
    const { numUpdatedRows } = await db
      .updateTable('dataset_exports')
      .set({ plan: jsonb(made) })
      .where('id', '=', row.id)
      .where('status', '=', 'RUNNING')
      .where('plan', 'is', null)
      .executeTakeFirst()
    if (numUpdatedRows === 0n) throw exportClaimLost()
    return made
  }

  /** Stores the files of a part together with the position after it. */
  async function commit(
    row: DatasetExportRow,
    part: PartResult,
    episodes: number,
  ): Promise<DatasetExportRow> {
    const state = stateAfter(row.state, part, episodes)
    return await transact(async (tx) => {
      const stored = await tx.db
        .updateTable('dataset_exports')
        .set((eb) => ({
          state: jsonb(state),
          episodes: state.doneEpisodes,
          frames: state.frames,
          size_bytes: eb(
            'size_bytes',
            '+',
            part.files.reduce((sum, file) => sum + file.sizeBytes, 0),
          ),
        }))
        .where('id', '=', row.id)
        .where('status', '=', 'RUNNING')
        .where(sql<number>`(state ->> 'doneEpisodes')::int`, '=', row.state.doneEpisodes)
        .where(sql<string>`state ->> 'attemptId'`, '=', row.state.attemptId)
        .returningAll()
        .executeTakeFirst()
      if (!stored) throw exportClaimLost()
      await tx.db
        .insertInto('dataset_export_files')
        .values(part.files.map(fileRow(row.id)))
        .execute()
      return stored
    })
  }

  async function writeParts(run: Run, first: DatasetExportRow, datasetPlan: DatasetPlan) {
    const { attempt, thread, keyPrefix, onProgress } = run
    const { episodes } = run.exported
    let row = first
    while (row.state.doneEpisodes < episodes.length) {
      attempt.signal.throwIfAborted()
      const { doneEpisodes, nextFile, frames } = row.state
      const part = nextPart(episodes, doneEpisodes)
      onProgress((done) => writingProgress(episodes, doneEpisodes, { episodes: part.length, done }))
      const result = await thread.run('part', {
        plan: datasetPlan,
        episodes: part,
        fileNumber: nextFile,
        firstIndex: frames,
        keyPrefix,
      })
      row = await commit(row, result, part.length)
    }
    return row
  }

  async function write(attempt: Attempt<ExportJob>): Promise<void> {
    const attemptId = randomUUID()
    const row = await begin(attempt.data.exportId, attemptId)
    if (!row) return
    await objects.removeUnreferenced(row.id)
    const exported = await loadEpisodes(db, row)
    const folder = join(tempDir, row.id)
    await rm(folder, { recursive: true, force: true }) // of an attempt whose process ended
    const attemptDir = join(folder, attemptId)
    await mkdir(attemptDir, { recursive: true })
    const progress = createExportProgress(db, attempt, report)
    let progressOf = planningProgress
    const thread = startDatasetThread({
      store: storage,
      tempDir: attemptDir,
      signal: progress.signal,
      progress: (done) => progress.update(progressOf(done)),
    })
    const keyPrefix = `${exportPrefix(row.id)}${attemptId}`
    const onProgress = (next: (done: number) => number) => {
      progressOf = next
    }
    try {
      const run: Run = { attempt, exported, thread, keyPrefix, onProgress }
      const datasetPlan = await plan(run, row)
      const written = await writeParts(run, row, datasetPlan)
      const totals = { ...exported, episodes: written.episodes, frames: written.frames }
      const { gaps } = exported
      await finish(attempt, { row: written, plan: datasetPlan, totals, gaps, keyPrefix })
    } finally {
      await thread.close()
      await progress.settled()
      await rm(attemptDir, { recursive: true, force: true })
      await rmdir(folder).catch(() => {}) // another attempt may use it
      // Only its own objects: another attempt may run. The next one, or the clean-up, repeats it.
      await objects.removeUnreferenced(row.id, `${keyPrefix}/`).catch(report)
    }
  }

  return write
}

function stateAfter(state: ExportState, { files: _, rows, stats, counts }: PartResult, episodes: number) {
  const merged = Object.entries(stats).map(([key, added]) => [key, mergeStats(state.stats[key], added)])
  return {
    attemptId: state.attemptId,
    doneEpisodes: state.doneEpisodes + episodes,
    nextFile: state.nextFile + 1,
    frames: state.frames + rows,
    stats: Object.fromEntries(merged),
    counts: {
      unreadable: state.counts.unreadable + counts.unreadable,
      invalid: state.counts.invalid + counts.invalid,
      unseen: state.counts.unseen + counts.unseen,
    },
  } satisfies ExportState
}
