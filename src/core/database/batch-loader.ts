/** Questions that one query answers at most, unless their answers are long. */
const DEFAULT_BATCH_SIZE = 100

interface PendingRequest<Q, A> {
  readonly key: Q
  readonly resolve: (answer: A) => void
  readonly reject: (cause: unknown) => void
}

/**
 * Answers questions that come up in the same turn of the event loop by one query. Alone, a question is asked at
 * once; when thousands of clients return together, a turn brings hundreds of them, and what asking costs is shared.
 * `ask` answers each question at its place. When it fails, it fails for all whose questions were in it.
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
