import { randomUUID } from 'node:crypto'
import { conflict, forbidden, uniqueViolation } from '../../../core/errors/errors.ts'
import type { Transact, Tx } from '../../../core/events/transactor.ts'
import type { Caller } from '../../../core/http/endpoint.ts'
import { partsIn } from '../../../core/permissions/session-part.ts'
import { extendedBooking, findOverlap, overlapErrorForClient } from '../record/booking.service.ts'
import type { SessionQueries } from '../record/session-queries.ts'
import { lockForLogEntry, recordTransition, type SessionRecord } from '../record/session-transitions.ts'

/** Requests extensions. The operator's decision is a session action, see extension-transitions.ts. */
export function createExtensions(deps: { transact: Transact; now: () => Date; queries: SessionQueries }) {
  const { transact, now, queries } = deps

  return {
    /**
     * Requests an extension from the operator.
     * @throws 404 when the caller may not see the session; 403 when the caller is not its client; 409 when it is not
     *   ACTIVE, a request is pending, or another booking of the robot or the operator overlaps the extension.
     */
    async request(caller: Caller, sessionId: string, additionalMinutes: number): Promise<void> {
      const session = await queries.get(caller, sessionId)
      if (!partsIn(caller, session, 'sessions.manage').includes('client')) {
        throw forbidden('session_owner_required', 'Only the owner of the robot may request an extension.')
      }
      const [at, id] = [now(), randomUUID()]
      const insert = () =>
        transact(async (tx) => {
          const active = await lockForLogEntry(tx, sessionId, ['ACTIVE'])
          if (!active)
            throw conflict('session_not_active', 'Only an active session can be extended. Check its status.')
          await requireFreeTime(tx, active, additionalMinutes, at)
          await tx.db
            .insertInto('session_extensions')
            .values({
              id,
              session_id: sessionId,
              additional_minutes: additionalMinutes,
              requested_at: at,
            })
            .execute()
          await recordTransition(tx, active, session.robot_name, {
            at,
            actorId: caller.userId,
            type: 'extension.requested',
            notifyUserIds: [active.operator_id],
            details: { extension_id: id, additional_minutes: additionalMinutes },
          })
        })
      await insert().catch((cause) => {
        if (uniqueViolation(cause) !== 'one_waiting_extension_per_session') throw cause
        throw conflict(
          'extension_pending',
          'An extension request is already pending. Wait for the decision of the operator.',
        )
      })
    },
  }
}
export type Extensions = ReturnType<typeof createExtensions>

/** Rejects an extension that overlaps a current booking. The approval checks the bookings again. */
async function requireFreeTime(tx: Tx, session: SessionRecord, minutes: number, at: Date): Promise<void> {
  const booking = extendedBooking(session, minutes, at)
  const overlap = await findOverlap(tx.db, booking)
  if (overlap) throw overlapErrorForClient(overlap, booking)
}
