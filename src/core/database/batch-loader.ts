import DataLoader from 'dataloader'

/** The default maximum of keys per query. */
const DEFAULT_BATCH_SIZE = 100

/**
 * Creates a loader that collects the keys requested in one turn of the event loop and loads them with one query. A
 * single key is loaded at once. When thousands of clients reconnect together, hundreds of keys share the cost of a
 * query. `load` returns one result per key, in the same order. When it fails, all requests of the batch fail.
 */
export function createBatchLoader<Q, A>(
  load: (keys: readonly Q[]) => Promise<readonly A[]>,
  maxBatchSize = DEFAULT_BATCH_SIZE,
): (key: Q) => Promise<A> {
  const loader = new DataLoader<Q, A>(load, {
    cache: false, // every request reads the present state
    maxBatchSize,
    batchScheduleFn: (dispatch) => void setImmediate(dispatch),
  })
  return (key) => loader.load(key)
}
