import type { SessionLogEvent } from '@wheelhouse/protocol'

/** Returns when a session ends because its robot is lost, in Unix milliseconds; undefined while that is not announced. */
export function lostUntil(events: readonly SessionLogEvent[]): number | undefined {
  const newest = events.findLast(({ type }) => type === 'robot.lost' || type === 'robot.back')
  const { ends_at: endsAt } = newest?.data ?? {}
  const endsAtMs = typeof endsAt === 'string' ? Date.parse(endsAt) : Number.NaN
  return Number.isNaN(endsAtMs) ? undefined : endsAtMs
}
