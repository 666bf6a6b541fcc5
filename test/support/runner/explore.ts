import fc from 'fast-check'

/**
 * Checks a property of a model with random runs for three seconds, and at least once. `MODEL_MS` sets a longer time. A
 * failure prints its seed and path; `fc.assert(property, { seed, path })` repeats it.
 */
export async function explore<T>(
  property: fc.IAsyncProperty<T>,
  parameters: fc.Parameters<T> = {},
): Promise<void> {
  const endMs = uptimeMs() + Number(process.env.MODEL_MS ?? 3_000)
  // One run at a time: the time limit of fast-check leaves the last run going while the next test begins.
  do await fc.assert(property, { ...parameters, numRuns: 1 })
  while (uptimeMs() < endMs)
}

/** Returns the time of a clock that fake timers do not replace. */
const uptimeMs = (): number => process.uptime() * 1_000
