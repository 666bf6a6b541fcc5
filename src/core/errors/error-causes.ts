/** Most errors of a chain of causes that are examined. */
const MAX_CAUSES = 4

/** Yields an error and its causes, outermost first. */
export function* causesOf(thrown: unknown): Generator<Error> {
  for (let error = thrown, depth = 0; error instanceof Error && depth < MAX_CAUSES; depth++) {
    yield error
    error = error.cause
  }
}
