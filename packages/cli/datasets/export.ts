import { setTimeout as delay } from 'node:timers/promises'
import { ApiError, answerOf, type Schemas } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { createTransferProgress } from '../download/transfer-progress.ts'
import { isTransient } from '../errors.ts'
import { Failure } from '../failure.ts'
import { datasetIds } from './lookup.ts'
import { showExport } from './view.ts'

const POLL_MS = 1_000
const PERCENT = 100

interface Options {
  readonly name: string
  readonly fps: number
  readonly episodes?: string[]
  readonly datasets?: string[]
  readonly cameras?: string[]
  readonly gaps: 'leave-out' | 'cut' | 'include'
  readonly alignment: 'causal' | 'nearest'
  readonly unfinished?: true
  readonly wait?: true
}

/** Starts the export of a dataset; with `--wait`, waits for its end. */
export async function run(cli: Context, options: Options): Promise<void> {
  const { name, fps, episodes, datasets, cameras } = options
  if ((episodes === undefined) === (datasets === undefined))
    throw new Failure('usage', 'Name the episodes with --episodes, or their datasets with --datasets.')
  const chosen = episodes ? { episode_ids: episodes } : { dataset_ids: await datasetIds(cli, datasets ?? []) }
  const gaps = options.gaps === 'leave-out' ? ('leave_out' as const) : options.gaps
  const { alignment } = options
  const wanted = { name, fps, gaps, alignment, unfinished: options.unfinished ?? false }
  const body = { format: 'lerobot_v3' as const, ...wanted, ...chosen, ...(cameras && { cameras }) }
  const started = await answerOf(cli.rest.POST('/api/client/datasets/exports', { body }))
  const result = options.wait ? await finished(cli, started) : started
  cli.out.result(result, () => showExport(cli.out, cli.server, result))
  const next =
    result.status === 'READY' ? `download-export ${result.id} -o ${name}` : `export-status ${result.id}`
  cli.out.note(`Continue with: wheelhouse datasets ${next}`)
}

/** Waits for the end of an export. @throws Failure when it fails or is deleted */
async function finished(cli: Context, started: Schemas['DatasetExport']): Promise<Schemas['DatasetExport']> {
  const { id } = started
  const progress = createTransferProgress(cli, PERCENT, { label: started.name, percent: true })
  try {
    for (let state = started; ; state = await poll(cli, state)) {
      progress.update(state.progress * PERCENT)
      if (state.status === 'READY') return state
      if (state.status === 'FAILED') throw new Failure('refused', state.error ?? 'The export failed.')
      await delay(POLL_MS, undefined, { signal: cli.signal })
    }
  } catch (cause) {
    if (!cli.signal.aborted) throw cause
    const next = `The export continues. See: wheelhouse datasets export-status ${id}`
    throw new Failure('interrupted', `Interrupted. ${next}`, { cause })
  } finally {
    progress.close()
  }
}

/** Reads the state of an export; returns the known one while the platform is not ready. */
async function poll(cli: Context, known: Schemas['DatasetExport']): Promise<Schemas['DatasetExport']> {
  try {
    const params = { path: { id: known.id } }
    return await answerOf(cli.rest.GET('/api/client/datasets/exports/{id}', { params }))
  } catch (cause) {
    if (!cli.signal.aborted && cause instanceof ApiError && cause.status === 404)
      throw new Failure(
        'conflict',
        `The export was deleted, or a newer version of ${known.name} has replaced it.`,
      )
    if (cli.signal.aborted || !isTransient(cause)) throw cause
    return known
  }
}
