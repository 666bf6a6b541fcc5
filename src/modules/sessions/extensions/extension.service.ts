import { randomUUID } from 'node:crypto'
import { conflict, forbidden, uniqueViolation } from '../../../core/errors/errors.ts'
import type { Transact, Tx } from '../../../core/events/transactor.ts'
import type { Caller } from '../../../core/http/endpoint.ts'
import { extendedBooking, findOverlap, overlapErrorForClient } from '../record/booking.service.ts'
import type { SessionQueries } from '../record/session-queries.ts'
import { lockForLogEntry, recordTransition, type SessionRecord } from '../record/session-transitions.ts'

/** Asking for more time. Deciding on it is an action of the session: see extension.moves.ts. */
export function createExtensions(deps: { transact: Transact; now: () => Date; queries: SessionQueries }) {
  const { transact, now, queries } = deps

  return {
    /**
     * Asks the operator for so many more minutes.
     * @throws 404 not theirs to see, 403 not the client of the session, 409 not ACTIVE, a request waits already, or
     *   a booking of the robot or the operator lies within those minutes.
     */
    async request(caller: Caller, sessionId: string, additionalMinutes: number): Promise<void> {
      const session = await queries.get(caller, sessionId)
      if (session.client_id !== caller.userId) {
        throw forbidden('session_owner_required', 'Only the owner of the robot may request an extension.')
      }
      const [at, id] = [now(), randomUUID()]
      const insert = () =>
        transact(async (tx) => {
          const active = await lockForLogEntry(tx, sessionId, ['ACTIVE'])
          if (!active)
            throw conflict(
              'session_not_active',
              'Only an active session can be extended. Look at its status.',
            )
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
          'An extension request is already waiting for the operator. Wait for the answer.',
        )
      })
    },
  }
}
export type Extensions = ReturnType<typeof createExtensions>

/** Refuses at once what could not be approved as the bookings are now; the approval itself is checked again. */
async function requireFreeTime(tx: Tx, session: SessionRecord, minutes: number, at: Date): Promise<void> {
  const booking = extendedBooking(session, minutes, at)
  const overlap = await findOverlap(tx.db, booking)
  if (overlap) throw overlapErrorForClient(overlap, booking)
}
