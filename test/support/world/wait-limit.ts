/** Ends a hang. Far longer than any wait on a busy machine: no test asserts a duration by it. */
export const WAIT_LIMIT_MS = 180_000
