/** The default maximum of keys per query. */
const DEFAULT_BATCH_SIZE = 100

interface PendingRequest<Q, A> {
  readonly key: Q
  readonly resolve: (answer: A) => void
  readonly reject: (cause: unknown) => void
}

/**
 * Creates a loader that collects the keys requested in one turn of the event loop and loads them with one query. A
 * single key is loaded at once. When thousands of clients reconnect together, hundreds of keys share the cost of a
 * query. `load` returns one result per key, in the same order. When it fails, all requests of the batch fail.
 */
export function createBatchLoader<Q, A>(
  load: (keys: readonly Q[]) => Promise<readonly A[]>,
  maxBatchSize = DEFAULT_BATCH_SIZE,
): (key: Q) => Promise<A> {
  let pending: PendingRequest<Q, A>[] = []

  async function loadBatch(batch: readonly PendingRequest<Q, A>[]): Promise<void> {
    try {
      const answers = await load(batch.map(({ key }) => key))
      for (const [index, { resolve }] of batch.entries()) resolve(answers[index] as A)
    } catch (cause) {
      for (const { reject } of batch) reject(cause)
    }
  }

  function loadPending(): void {
    const all = pending
    pending = []
    for (let start = 0; start < all.length; start += maxBatchSize) {
      void loadBatch(all.slice(start, start + maxBatchSize))
    }
  }

  return (key) =>
    new Promise((resolve, reject) => {
      if (pending.push({ key, resolve, reject }) === 1) setImmediate(loadPending)
    })
}
