/**
 * Runs one statement at a time over whatever has gathered meanwhile: a single item goes out at once, a burst
 * becomes a few large statements.
 */
export interface SerialBatchLoader<T, R> {
  /** Settles with what `run` answered for this item. Rejects at once when `maxQueued` items wait already. */
  add(item: T): Promise<R>
  readonly size: number
  /** Settles when nothing is queued or running. */
  idle(): Promise<void>
}

interface Waiting<T, R> {
  readonly item: T
  readonly resolve: (answer: R) => void
  readonly reject: (cause: unknown) => void
}

/** @param options.run must answer one result per item, in order. */
export function createSerialBatchLoader<T, R>(options: {
  maxBatch: number
  maxQueued: number
  run: (items: T[]) => Promise<R[]>
}): SerialBatchLoader<T, R> {
  let queue: Waiting<T, R>[] = []
  let running: Promise<void> | undefined

  async function drain(): Promise<void> {
    // One turn of the event loop lets everything that arrived in the same read join the first statement.
    await new Promise((resolve) => setImmediate(resolve))
    while (queue.length > 0) {
      const batch = queue.slice(0, options.maxBatch)
      queue = queue.slice(options.maxBatch)
      try {
        const answers = await options.run(batch.map((waiting) => waiting.item))
        batch.forEach((waiting, index) => {
          waiting.resolve(answers[index] as R)
        })
      } catch (cause) {
        for (const waiting of batch) waiting.reject(cause)
      }
    }
    running = undefined
  }

  return {
    add(item) {
      if (queue.length >= options.maxQueued) return Promise.reject(new Error('too many waiting'))
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
