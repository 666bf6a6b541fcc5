import { Worker } from 'node:worker_threads'
import { ExportProblem } from '../../../core/exports/export-problem.ts'
import { ClaimLostError } from '../../../core/jobs/queue.ts'
import type { ObjectStore } from '../../../core/storage/object-store.ts'
import type { DatasetPlan } from '../lerobot/dataset-plan.ts'
import type { PartInput, PartResult } from '../lerobot/part-input.ts'
import type { PlanInput } from '../lerobot/plan-dataset.ts'
import { type StoreRequest, type StoreResponse, serveStore } from './store-channel.ts'

/** Memory of the thread for objects of JavaScript. Beyond it, the thread fails and not the process. */
const MAX_HEAP_MB = 400

export interface DatasetTasks {
  readonly plan: { readonly input: PlanInput; readonly result: DatasetPlan }
  readonly part: { readonly input: PartInput; readonly result: PartResult }
}
export type DatasetTaskName = keyof DatasetTasks
/** The messages of the process to the thread. */
export type ToDatasetThread =
  | { readonly kind: 'task'; readonly name: 'plan'; readonly input: PlanInput }
  | { readonly kind: 'task'; readonly name: 'part'; readonly input: PartInput }
  | StoreResponse
/** The messages of the thread to the process. */
export type FromDatasetThread =
  | StoreRequest
  | { readonly kind: 'progress'; readonly done: number }
  | { readonly kind: 'result'; readonly value: DatasetPlan | PartResult }
  | { readonly kind: 'problem'; readonly message: string }
  | { readonly kind: 'error'; readonly message: string }

/** The data with which the thread is created. */
export interface DatasetThreadData {
  readonly tempDir: string
}

export interface DatasetThreadOptions {
  readonly store: Pick<ObjectStore, 'readBytes' | 'create'>
  /** A folder for its temporary files. */
  readonly tempDir: string
  readonly signal: AbortSignal
  /** Called with the part of the current task that is done, from 0 to 1. */
  readonly progress: (done: number) => void
}

interface RunningTask {
  readonly resolve: (value: DatasetPlan | PartResult) => void
  readonly reject: (cause: Error) => void
}

/**
 * Starts the thread that reads recordings and writes the files of datasets, which takes so much time that it must not delay the
 * control of robots in the same process.
 */
export function startDatasetThread({ store, tempDir, signal, progress }: DatasetThreadOptions) {
  const worker = new Worker(new URL('./dataset.worker.ts', import.meta.url), {
    workerData: { tempDir } satisfies DatasetThreadData,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  })
  const served = serveStore(store, (message, transfer) => worker.postMessage(message, [...transfer]))
  let running: RunningTask | undefined
  let failure: Error | undefined

  function settle(finish: (task: RunningTask) => void): void {
    const task = running
    running = undefined
    if (task) finish(task)
  }
  function fail(cause: Error): void {
    failure ??= cause
    settle(({ reject }) => reject(cause))
  }

  worker.on('message', (message: FromDatasetThread) => {
    if (message.kind === 'store') void served.handle(message)
    else if (message.kind === 'progress') progress(message.done)
    else if (message.kind === 'result') settle(({ resolve }) => resolve(message.value))
    else if (message.kind === 'problem') settle(({ reject }) => reject(new ExportProblem(message.message)))
    else settle(({ reject }) => reject(new Error(message.message)))
  })
  worker.on('error', fail)
  worker.on('exit', () => fail(new Error('the thread of the export has ended')))
  const abort = () => fail(signal.reason instanceof Error ? signal.reason : new ClaimLostError('aborted'))
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()

  return {
    /** Runs a task. Tasks run one at a time. */
    run: <N extends DatasetTaskName>(
      name: N,
      input: DatasetTasks[N]['input'],
    ): Promise<DatasetTasks[N]['result']> =>
      new Promise<DatasetPlan | PartResult>((resolve, reject) => {
        if (failure) return reject(failure)
        running = { resolve, reject }
        worker.postMessage({ kind: 'task', name, input })
      }) as Promise<DatasetTasks[N]['result']>,

    /** Ends the thread, and discards the files that are not complete. */
    async close(): Promise<void> {
      signal.removeEventListener('abort', abort)
      await worker.terminate()
      await served.close()
    },
  }
}
export type DatasetThread = ReturnType<typeof startDatasetThread>
