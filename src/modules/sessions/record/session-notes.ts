import type { SessionEventType } from '@wheelhouse/protocol'
import type { Tx } from '../../../core/events/transactor.ts'
import { appendToLog } from './session-event-log.ts'
import { lockForLogEntry } from './session-transitions.ts'

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
  const { type, at, actorId, details } = note
  const reason = note.reason !== undefined && { reason: note.reason }
  const actor = actorId !== undefined && { actor_id: actorId }
  const data = { status: session.status, ...actor, ...reason, ...details }
  await appendToLog(tx, { sessionId, seq: session.event_seq, type, at, data })
  if (type !== 'recording.paused' || !note.notifies) return
  const robot = await tx.db
    .selectFrom('robots')
    .select('name')
    .where('id', '=', session.robot_id)
    .executeTakeFirstOrThrow()
  const subject = { session_id: sessionId, robot_id: session.robot_id, robot_name: robot.name }
  await tx.notify(at, [
    {
      organizationId: session.client_id,
      robotId: session.robot_id,
      type,
      data: { ...subject, ...reason, ...details },
    },
  ])
}
