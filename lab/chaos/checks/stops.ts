import type { Check, Environment } from './check.ts'

/** A period of a session under a latched stop. */
interface Stopped {
  readonly fromMs: number
  readonly toMs: number
}

/** Returns periods by session, from the log: from every stop to its clear, or to the session's end. */
async function stoppedIntervals(db: Environment['db']): Promise<Map<string, Stopped[]>> {
  const { rows } = await db.query<{ session_id: string; type: string; at: Date }>(
    `select session_id, type, at from session_events
     where type in ('session.stopped', 'session.stop_cleared', 'session.ended') order by session_id, seq`,
  )
  const intervals = new Map<string, Stopped[]>()
  const since = new Map<string, number>()
  for (const { session_id: sessionId, type, at } of rows) {
    const fromMs = since.get(sessionId)
    // The owner's stop after the operator's has a separate entry.
    if (type === 'session.stopped') since.set(sessionId, fromMs ?? at.getTime())
    else if (fromMs !== undefined) {
      add(intervals, sessionId, { fromMs, toMs: at.getTime() })
      since.delete(sessionId)
    }
  }
  for (const [sessionId, fromMs] of since)
    add(intervals, sessionId, { fromMs, toMs: Number.POSITIVE_INFINITY })
  return intervals
}

function add(intervals: Map<string, Stopped[]>, sessionId: string, interval: Stopped): void {
  intervals.set(sessionId, [...(intervals.get(sessionId) ?? []), interval])
}

/**
 * Every acknowledged stop is in the log, and no robot received control before the stop was cleared, not even over
 * another connection at another gateway. `StopMonitor` checks the case of a single connection during the run.
 */
export const stopsObeyed: Check = {
  name: 'acknowledged stops are recorded and obeyed',
  async run({ db, evidence }) {
    const intervals = await stoppedIntervals(db)
    const unrecorded = evidence.stops.filter(
      ({ sessionId, requestedAtMs, reportedAtMs }) =>
        !intervals
          .get(sessionId)
          ?.some(({ fromMs, toMs }) => fromMs <= reportedAtMs && toMs >= requestedAtMs),
    )
    const driven = evidence.releases.filter(({ sessionId, drivenAtMs }) =>
      intervals.get(sessionId)?.some(({ fromMs, toMs }) => fromMs <= drivenAtMs && drivenAtMs < toMs),
    )
    return [
      ...unrecorded.map(
        ({ sessionId, requestedAtMs }) =>
          `the stop of session ${sessionId}, requested at ${iso(requestedAtMs)} and acknowledged, is not in its log`,
      ),
      ...driven.map(
        ({ robotId, sessionId, stoppedAtMs, drivenAtMs }) =>
          `robot ${robotId}, stopped at ${iso(stoppedAtMs)} in session ${sessionId}, was driven at ` +
          `${iso(drivenAtMs)}, before the stop was cleared`,
      ),
    ]
  },
}

const iso = (ms: number) => new Date(ms).toISOString()
