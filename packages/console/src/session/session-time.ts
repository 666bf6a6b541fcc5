import type { SessionLogEvent, SessionStatus } from '@wheelhouse/protocol'

/** Since when a session has had its status, in Unix milliseconds, as its log tells it; undefined when it does not. */
export function statusSince(events: readonly SessionLogEvent[], status: SessionStatus): number | undefined {
  const statusEvents = events.filter(({ data }) => typeof data.status === 'string')
  const before = statusEvents.findLastIndex(({ data }) => data.status !== status)
  const first = statusEvents[before + 1]
  return first && Date.parse(first.at)
}

/**
 * What a session would cost if it ended now, in cents: begun minutes times the rate. An estimate: the platform
 * knows outages that the page does not, and fixes the charge at the end.
 */
export function estimate(billableSeconds: number, rateCentsPerMinute: number) {
  const minutes = Math.ceil(Math.max(0, billableSeconds) / 60)
  return { minutes, cents: minutes * rateCentsPerMinute }
}
