/** How many errors, each the cause of the one before, are looked at. */
const MAX_CAUSES = 4

/** Yields an error and what it was caused by, outermost first. */
export function* causesOf(thrown: unknown): Generator<Error> {
  for (let error = thrown, depth = 0; error instanceof Error && depth < MAX_CAUSES; depth++) {
    yield error
    error = error.cause
  }
}
