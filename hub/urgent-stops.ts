import { AppError } from '../src/core/errors/errors.ts'

/** Sessions that one socket may stop at a time beyond its rate limit. */
const MAX_RUNNING = 4

export const tooManyCommands = () =>
  new AppError(429, 'rate_limited', 'Too many commands. Send them more slowly.')

/**
 * Runs the stops of one socket that exceed its rate limit, one at a time for each session. A repetition gets the answer
 * of the running stop, so it is never refused and costs nothing.
 */
export function createUrgentStops<T>() {
  const running = new Map<string, Promise<T>>()
  return async (sessionId: string, stop: () => Promise<T>): Promise<T> => {
    const current = running.get(sessionId)
    if (current) return await current
    if (running.size >= MAX_RUNNING) throw tooManyCommands()
    const started = stop().finally(() => running.delete(sessionId))
    running.set(sessionId, started)
    return await started
  }
}
export type UrgentStops<T> = ReturnType<typeof createUrgentStops<T>>
