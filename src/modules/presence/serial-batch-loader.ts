import { setImmediate as nextTurn } from 'node:timers/promises'
import DataLoader from 'dataloader'
import pLimit from 'p-limit'

/**
 * Runs one batch at a time. Items that arrive during a run form the next batch: a single item runs at once, a burst
 * becomes a few large batches.
 */
export interface SerialBatchLoader<T, R> {
  /** Resolves with the result of `run` for this item. Rejects immediately when `maxQueued` items are queued. */
  add(item: T): Promise<R>
  readonly size: number
  /** Resolves when the queue is empty and no batch runs. */
  idle(): Promise<void>
}

/** @param options.run must return one result per item, in the same order. */
export function createSerialBatchLoader<T, R>(options: {
  maxBatch: number
  maxQueued: number
  run: (items: readonly T[]) => Promise<readonly R[]>
}): SerialBatchLoader<T, R> {
  const { maxBatch, maxQueued, run } = options
  const inSeries = pLimit(1)
  let size = 0
  let running: Promise<unknown> = Promise.resolve()
  let lastBatch: Promise<void> = Promise.resolve()

  // The loader fills a batch until it is dispatched. The dispatch waits for the end of the batch before.
  const loader = new DataLoader<T, R>(
    (items) => {
      size -= items.length
      const results = (async () => await run(items))()
      running = results.catch(() => {}) // the callers of `add` receive the error
      return results
    },
    {
      cache: false,
      maxBatchSize: maxBatch,
      batchScheduleFn(dispatch) {
        lastBatch = inSeries(async () => {
          await nextTurn() // all items of the same socket read are in one batch
          dispatch()
          await running
        })
      },
    },
  )

  return {
    add(item) {
      if (size >= maxQueued) return Promise.reject(new Error('The queue is full.'))
      size++
      return loader.load(item)
    },
    get size() {
      return size
    },
    async idle() {
      let awaited: Promise<void>
      do {
        awaited = lastBatch
        await awaited
      } while (awaited !== lastBatch)
    },
  }
}
