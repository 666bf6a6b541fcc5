import { AppError } from '../src/core/errors/errors.ts'

/** Sessions that one socket may be stopping at a time beyond its allowance. */
const MAX_RUNNING = 4

export const tooManyCommands = () => new AppError(429, 'rate_limited', 'Too many commands. Send them more slowly.')

/**
 * Carries out the stops of one socket that its allowance has no room for. One runs at a time for each session; whoever
 * asks again meanwhile gets its answer, so that repeating a stop is never refused and costs nothing.
 */
export function createUrgentStops<T>() {
  const running = new Map<string, Promise<T>>()
  return async (sessionId: string, stop: () => Promise<T>): Promise<T> => {
    const known = running.get(sessionId)
    if (known) return await known
    if (running.size >= MAX_RUNNING) throw tooManyCommands()
    const begun = stop().finally(() => running.delete(sessionId))
    running.set(sessionId, begun)
    return await begun
  }
}
export type UrgentStops<T> = ReturnType<typeof createUrgentStops<T>>
