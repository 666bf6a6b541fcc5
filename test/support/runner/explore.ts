import fc from 'fast-check'

/** The runs of `npm test`; `npm run test:all` does more. */
const DEFAULT_RUNS = 20

/**
 * Checks a property of a model with `MODEL_RUNS` random runs. `costs` divides their number, for a model whose run costs as much as
 * this many runs of a model without services. A failure prints its seed and path; `fc.assert(property, { seed, path })` repeats it.
 */
export async function explore<T>(
  property: fc.IAsyncProperty<T>,
  { costs = 1, ...parameters }: fc.Parameters<T> & { costs?: number } = {},
): Promise<void> {
  const runs = Number(process.env.MODEL_RUNS ?? DEFAULT_RUNS)
  await fc.assert(property, { ...parameters, numRuns: Math.ceil(runs / costs) })
}
