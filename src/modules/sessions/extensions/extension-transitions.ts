import type { Db } from '../../../core/database/tables.ts'
import { conflict } from '../../../core/errors/errors.ts'
import type { Tx } from '../../../core/events/transactor.ts'
import { type Booking, extendedBooking, extendedMinutes } from '../record/booking.service.ts'
import {
  lockForLogEntry,
  recordTransition,
  type SessionRecord,
  type TransitionHandler,
} from '../record/session-transitions.ts'

/** Decides the pending request. Locks the session's row first, like every change of requests. */
const decide =
  (status: 'APPROVED' | 'DECLINED'): TransitionHandler =>
  async (tx, session, _robot, context) => {
    const open = await lockForLogEntry(tx, session.id, ['ACTIVE', 'PAUSED'])
    if (!open)
      throw conflict(
        'session_not_open',
        'The session is not open. Only an active or paused session can be extended.',
      )
    const request = await tx.db
      .updateTable('session_extensions')
      .set({ status, decided_at: context.at })
      .where('session_id', '=', session.id)
      .where('status', '=', 'REQUESTED')
      .returning(['id', 'additional_minutes'])
      .executeTakeFirst()
    if (!request)
      throw conflict(
        'no_extension_pending',
        'No extension request is pending. The client has to request an extension first.',
      )
    const decided =
      status === 'APPROVED' ? await extend(tx, open, request.additional_minutes, context.at) : open
    await recordTransition(tx, decided, session.robot_name, {
      ...context,
      type: status === 'APPROVED' ? 'extension.approved' : 'extension.declined',
      notifyUserIds: [decided.client_id],
      details: {
        extension_id: request.id,
        additional_minutes: request.additional_minutes,
        planned_minutes: decided.planned_minutes,
      },
    })
  }

export const approveExtension = decide('APPROVED')
export const declineExtension = decide('DECLINED')

/** Extends the planned length of a session. The exclusion constraints reject an overlap with another booking. */
async function extend(tx: Tx, session: SessionRecord, minutes: number, at: Date): Promise<SessionRecord> {
  return await tx.db
    .updateTable('sessions')
    .set({ planned_minutes: extendedMinutes(session, minutes, at) })
    .where('id', '=', session.id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Returns the booking of the session after its pending request; undefined without a pending request. */
export async function requestedBooking(db: Db, sessionId: string, at: Date): Promise<Booking | undefined> {
  const session = await db
    .selectFrom('sessions')
    .innerJoin('session_extensions', 'session_extensions.session_id', 'sessions.id')
    .select(['sessions.id', 'robot_id', 'operator_id', 'scheduled_for', 'started_at', 'planned_minutes'])
    .select('additional_minutes')
    .where('sessions.id', '=', sessionId)
    .where('session_extensions.status', '=', 'REQUESTED')
    .executeTakeFirst()
  return session && extendedBooking(session, session.additional_minutes, at)
}

/** Expires the pending request of a session, in the transaction that ends the session. */
export async function expireExtension(tx: Tx, sessionId: string, at: Date): Promise<void> {
  await tx.db
    .updateTable('session_extensions')
    .set({ status: 'EXPIRED', decided_at: at })
    .where('session_id', '=', sessionId)
    .where('status', '=', 'REQUESTED')
    .execute()
}
