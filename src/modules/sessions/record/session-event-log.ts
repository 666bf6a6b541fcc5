import type { SessionEventType, SessionStatus } from '@wheelhouse/protocol'
import { compiled } from '../../../core/database/compiled.ts'
import type { Tx } from '../../../core/events/transactor.ts'

/** What a log entry says of a change: the session's state after it, who did it, why. */
export interface TransitionData {
  readonly status: SessionStatus
  readonly actor_id?: string
  readonly reason?: string
}

export interface LogEntry {
  readonly sessionId: string
  /** The number that the caller's update of `sessions.event_seq` took; that update holds the row's lock. */
  readonly seq: number
  readonly type: SessionEventType
  readonly at: Date
  /** What is stored. */
  readonly data: Record<string, unknown>
  /** What is told, when that is more than what is stored. */
  readonly publicPayload?: Record<string, unknown>
}

const insertEntry = compiled<Pick<LogEntry, 'sessionId' | 'seq' | 'type' | 'data' | 'at'>>()((db, param) =>
  db.insertInto('session_events').values({
    session_id: param('sessionId'),
    seq: param('seq'),
    type: param('type'),
    data: param('data'),
    at: param('at'),
  }),
)

/**
 * Appends to a session's log and to the outbox, in the caller's transaction. The number is gapless because
 * it comes from a counter in the session's row: a rolled-back transaction gives its number back.
 */
export async function appendToLog(tx: Tx, entry: LogEntry): Promise<void> {
  const { sessionId, seq, type, at, data } = entry
  await insertEntry(tx.db, { sessionId, seq, type, data, at })
  tx.record('session.event', {
    session_id: sessionId,
    seq,
    type,
    data: entry.publicPayload ?? data,
    at: at.toISOString(),
  })
}
