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

interface QueuedItem<T, R> {
  readonly item: T
  readonly resolve: (result: R) => void
  readonly reject: (cause: unknown) => void
}

/** @param options.run must return one result per item, in the same order. */
export function createSerialBatchLoader<T, R>(options: {
  maxBatch: number
  maxQueued: number
  run: (items: T[]) => Promise<R[]>
}): SerialBatchLoader<T, R> {
  let queue: QueuedItem<T, R>[] = []
  let running: Promise<void> | undefined

  async function drain(): Promise<void> {
    // After one turn of the event loop, all items of the same socket read are in the first batch.
    await new Promise((resolve) => setImmediate(resolve))
    while (queue.length > 0) {
      const batch = queue.slice(0, options.maxBatch)
      queue = queue.slice(options.maxBatch)
      try {
        const results = await options.run(batch.map((queued) => queued.item))
        batch.forEach((queued, index) => {
          queued.resolve(results[index] as R)
        })
      } catch (cause) {
        for (const queued of batch) queued.reject(cause)
      }
    }
    running = undefined
  }

  return {
    add(item) {
      if (queue.length >= options.maxQueued) return Promise.reject(new Error('The queue is full.'))
      return new Promise<R>((resolve, reject) => {
        queue.push({ item, resolve, reject })
        running ??= drain()
      })
    },
    get size() {
      return queue.length
    },
    idle: async () => {
      while (running) await running
    },
  }
}
