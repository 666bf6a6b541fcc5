import type { SessionEventType } from '@wheelhouse/protocol'
import { compiled } from '../../../core/database/compiled.ts'
import type { EventPayload } from '../../../core/events/catalog.ts'
import type { Tx } from '../../../core/events/transactor.ts'

export interface LogEntry {
  readonly sessionId: string
  /** Number of the entry: the `sessions.event_seq` that the caller incremented. That update locks the row. */
  readonly seq: number
  readonly type: SessionEventType
  readonly at: Date
  /** The stored payload. */
  readonly data: Record<string, unknown>
  /** The published payload; defaults to `data`. */
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
 * Appends an entry to a session's log and to the outbox, in the caller's transaction. The numbers have no gaps: the
 * counter is in the session's row, so a rollback also reverts the counter.
 */
export async function appendToLog(tx: Tx, entry: LogEntry): Promise<void> {
  const { sessionId, seq, type, at, data, publicPayload = data } = entry
  await insertEntry(tx.db, { sessionId, seq, type, data, at })
  tx.publish('session.event', logEvent({ sessionId, seq, type, at, data: publicPayload }))
}

/** Returns the domain event of an entry with its published payload. */
export function logEvent({
  sessionId,
  seq,
  type,
  at,
  data,
}: Omit<LogEntry, 'publicPayload'>): EventPayload<'session.event'> {
  return { session_id: sessionId, seq, type, data, at: at.toISOString() }
}
