import type { SessionLogEvent, SessionStatus } from '@wheelhouse/protocol'

/** Returns when the session entered its status, in Unix milliseconds, undefined if the log does not contain it. */
export function statusSince(events: readonly SessionLogEvent[], status: SessionStatus): number | undefined {
  const statusEvents = events.filter(({ data }) => typeof data.status === 'string')
  const before = statusEvents.findLastIndex(({ data }) => data.status !== status)
  const first = statusEvents[before + 1]
  return first && Date.parse(first.at)
}

/**
 * Returns the charge of a session if it ended now: started minutes times the rate. This is an estimate, because only
 * the platform knows all outages. The charge is final at the end of the session.
 */
export function estimate(billableSeconds: number, rateCentsPerMinute: number) {
  const minutes = Math.ceil(Math.max(0, billableSeconds) / 60)
  return { minutes, cents: minutes * rateCentsPerMinute }
}
