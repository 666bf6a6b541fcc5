import DataLoader from 'dataloader'

/** The default maximum of keys per query. */
const DEFAULT_BATCH_SIZE = 100

export interface BatchLoaderOptions {
  readonly maxBatchSize?: number
  /** The least time between two batches. Keys that arrive earlier form the next batch. Default: 0, only one turn. */
  readonly intervalMs?: number
}

/**
 * Creates a loader that collects the keys requested in one turn of the event loop and loads them with one query. A
 * single key is loaded at once. When thousands of clients reconnect together, hundreds of keys share the cost of a
 * query. `load` returns one result per key, in the same order; an `Error` fails only the request of its key. When `load`
 * fails, all requests of the batch fail.
 */
export function createBatchLoader<Q, A>(
  load: (keys: readonly Q[]) => Promise<readonly (A | Error)[]>,
  { maxBatchSize = DEFAULT_BATCH_SIZE, intervalMs = 0 }: BatchLoaderOptions = {},
): (key: Q) => Promise<A> {
  let lastMs = Number.NEGATIVE_INFINITY
  const dispatchNow = (dispatch: () => void) => {
    lastMs = performance.now()
    dispatch()
  }
  const loader = new DataLoader<Q, A>(load, {
    cache: false, // every request reads the present state
    maxBatchSize,
    batchScheduleFn(dispatch) {
      const leftMs = intervalMs === 0 ? 0 : lastMs + intervalMs - performance.now()
      if (leftMs > 0) setTimeout(dispatchNow, leftMs, dispatch)
      else setImmediate(dispatchNow, dispatch)
    },
  })
  return (key) => loader.load(key)
}
