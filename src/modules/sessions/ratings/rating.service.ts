import { conflict, forbidden } from '../../../core/errors/errors.ts'
import type { Transact } from '../../../core/events/transactor.ts'
import type { Caller } from '../../../core/http/endpoint.ts'
import { partsIn } from '../../../core/permissions/session-part.ts'
import type { RateSession } from '../record/session.schema.ts'
import type { SessionDetailRow } from '../record/session.view.ts'
import type { SessionQueries } from '../record/session-queries.ts'
import { recordTransition } from '../record/session-transitions.ts'

/** Rates completed sessions, once per session, by their client. */
export function createRatings(deps: { transact: Transact; now: () => Date; queries: SessionQueries }) {
  const { transact, now, queries } = deps

  return {
    /**
     * Rates a session and returns it.
     * @throws 404 when the caller may not see the session; 403 when the caller is not its client, or is also its
     *   operator; 409 when it is not COMPLETED or already rated.
     */
    async rate(caller: Caller, sessionId: string, input: RateSession): Promise<SessionDetailRow> {
      const session = await queries.get(caller, sessionId)
      if (!partsIn(caller, session, 'sessions.manage').includes('client'))
        throw forbidden('session_owner_required', 'Only the owner of the robot may rate the session.')
      if (session.operator_id === caller.userId || session.own_operator) {
        throw forbidden(
          'own_session_not_rateable',
          'You were the operator of this session on your own robot. Such a session cannot be rated.',
        )
      }
      const { rating, comment } = input
      await transact(async (tx) => {
        const rated = await tx.db
          .updateTable('sessions')
          .set((eb) => ({ rating, rating_comment: comment, event_seq: eb('event_seq', '+', 1) }))
          .where('id', '=', sessionId)
          .where('status', '=', 'COMPLETED')
          .where('rating', 'is', null)
          .returningAll()
          .executeTakeFirst()
        // COMPLETED is final, so the status read before is still valid.
        if (!rated && session.status !== 'COMPLETED')
          throw conflict(
            'session_not_completed',
            'Only a completed session can be rated. Rate it after it has ended.',
          )
        if (!rated)
          throw conflict('session_already_rated', 'The session is already rated. A rating cannot be changed.')
        await recordTransition(tx, rated, session.robot_name, {
          at: now(),
          actorId: caller.userId,
          type: 'session.rated',
          notifyUserIds: [rated.operator_id],
          details: { rating, comment },
        })
      })
      return await queries.get(caller, sessionId)
    },
  }
}
export type Ratings = ReturnType<typeof createRatings>
