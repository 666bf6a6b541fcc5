import type { SessionEventType } from '@wheelhouse/protocol'
import type { Tx } from '../../../core/events/transactor.ts'
import { appendToLog } from './session-event-log.ts'
import { lockForLogEntry, recordTransition } from './session-transitions.ts'

/** An entry of a session's log that another module writes: about its recording and its episodes. */
export interface SessionNote {
  readonly type: SessionEventType & (`recording.${string}` | `episode.${string}`)
  readonly at: Date
  readonly actorId?: string
  readonly reason?: string
  readonly details: Readonly<Record<string, unknown>>
  /** Whether the owner gets a notification, too. */
  readonly notifies?: boolean
}

/** Appends a note to the log of an open session, in the caller's transaction. Does nothing if the session is not open. */
export async function appendSessionNote(tx: Tx, sessionId: string, note: SessionNote): Promise<void> {
  const session = await lockForLogEntry(tx, sessionId, ['ACTIVE', 'PAUSED'])
  if (!session) return
  const { type, at, actorId, reason, details } = note
  if (type === 'recording.paused' && note.notifies) {
    const robot = await tx.db
      .selectFrom('robots')
      .select('name')
      .where('id', '=', session.robot_id)
      .executeTakeFirstOrThrow()
    const noted = { ...details, ...(reason !== undefined && { reason }) }
    const notice = { type, at, notifyUserIds: [session.client_id], details: noted }
    return await recordTransition(tx, session, robot.name, notice)
  }
  const data = {
    status: session.status,
    ...(actorId !== undefined && { actor_id: actorId }),
    ...(reason !== undefined && { reason }),
    ...details,
  }
  await appendToLog(tx, { sessionId, seq: session.event_seq, type, at, data })
}
