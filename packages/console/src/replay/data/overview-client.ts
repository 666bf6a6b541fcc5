import { createStore } from '../../base/store.ts'
import type { Overview } from './overview.ts'
import type { DetailRange, ScanParts } from './overview-scan.ts'

export type ToOverviewWorker =
  | ({ readonly kind: 'parts' } & ScanParts)
  | ({ readonly kind: 'detail' } & DetailRange)
export type FromOverviewWorker =
  | {
      readonly kind: 'overview' | 'detail'
      readonly overview: Overview
      /** Infinite once everything was read. */
      readonly scannedToMs: number
    }
  | { readonly kind: 'failed'; readonly message: string }

interface OverviewState {
  readonly overview: Overview | undefined
  /** The newest range that was read in detail. */
  readonly detail: Overview | undefined
  readonly scannedToMs: number
  readonly failure: string | undefined
}

/** Starts the worker that reads the whole recording. Close it. */
export function openOverview() {
  const state = createStore<OverviewState>({
    overview: undefined,
    detail: undefined,
    scannedToMs: 0,
    failure: undefined,
  })
  const worker = new Worker(new URL('./overview.worker.ts', import.meta.url), { type: 'module' })
  const send = (message: ToOverviewWorker) => worker.postMessage(message)
  worker.addEventListener('message', ({ data }: MessageEvent<FromOverviewWorker>) => {
    if (data.kind === 'failed') state.update((old) => ({ ...old, failure: data.message }))
    else if (data.kind === 'detail') state.update((old) => ({ ...old, detail: data.overview }))
    else {
      const { overview, scannedToMs } = data
      state.update((old) => ({ ...old, overview, scannedToMs, failure: undefined }))
    }
  })
  worker.addEventListener('error', ({ message }) => state.update((old) => ({ ...old, failure: message })))
  return {
    state,
    setParts: (parts: ScanParts) => send({ kind: 'parts', ...parts }),
    requestDetail: (range: DetailRange) => send({ kind: 'detail', ...range }),
    close: () => worker.terminate(),
  }
}
