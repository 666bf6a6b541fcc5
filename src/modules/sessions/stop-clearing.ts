import { audit } from '../../core/audit/audit.ts'
import { conflict, forbidden } from '../../core/errors/errors.ts'
import type { Tx } from '../../core/events/transactor.ts'
import { type Act, announce, type Move, type RobotRecord, tell } from './session-changes.ts'
import { stopOf, withoutStop } from './session-stop.ts'
import { clearableBy } from './stop-authority.ts'

/** How often the operator may ask for the clearing of one stop; asking sooner changes nothing. */
const ASK_EVERY_MS = 60_000

/**
 * Clears the stop in force. The session stays PAUSED: resuming it is a second, separate action. Two conditions of the
 * update keep a stop in force: one requested after `session` was read, while this waited for its turn, and one that
 * the owner or an admin requested, unless the owner, an admin, or by the robot's setting anyone clears it.
 */
export const clearStop: Move = async (tx, session, robot, act) => {
  const before = await stopOf(tx, session.id)
  const cleared = await tx.db
    .updateTable('sessions')
    .set((eb) => ({ ...withoutStop, event_seq: eb('event_seq', '+', 1) }))
    .where('id', '=', session.id)
    .where('stop_at', 'is not', null)
    .where('stop_presses', '=', session.stop_presses)
    .$if(!act.asAdmin, (query) =>
      query.where((eb) =>
        eb.or([
          eb('stop_by_owner', '=', false),
          eb('client_id', '=', act.actorId ?? null),
          eb.exists(
            eb
              .selectFrom('robots')
              .select('robots.id')
              .whereRef('robots.id', '=', 'sessions.robot_id')
              .where('robots.stop_clear', '=', 'anyone'),
          ),
        ]),
      ),
    )
    .returningAll()
    .executeTakeFirst()
  if (!before) throw conflict('No stop is in force. Resume the session if it is paused.')
  if (!cleared && before.stop_presses !== session.stop_presses) {
    throw conflict('The robot was stopped again just now. Look at the robot, then clear the stop.')
  }
  if (!cleared) {
    throw forbidden('Only the owner or an admin can clear this stop. Ask for it with "Ask to clear".')
  }
  await announce(tx, cleared, robot, {
    ...act,
    type: 'session.stop_cleared',
    notifyUserIds: [cleared.client_id, cleared.operator_id],
  })
  const { stop_reason, stop_at, stop_by_id, stop_by_role } = before
  await audit(tx, {
    at: act.at,
    actorId: act.actorId,
    action: 'session.stop_cleared',
    subject: ['session', session.id],
    data: {
      ...{ stop_reason, stop_at, stop_by_id, stop_by_role },
      ...(act.reason !== undefined && { reason: act.reason }),
    },
  })
}

/**
 * Asks the owner, and an admin who requested the stop, to clear it: an entry of the log and a notification, at most
 * one a minute. Asking again sooner is no error and changes nothing.
 */
export const requestClearStop: Move = async (tx, session, robot, act) => {
  const before = await stopOf(tx, session.id)
  if (!before) throw conflict('No stop is in force. Resume the session if it is paused.')
  const mayClear = act.asAdmin || session.client_id === act.actorId
  if (mayClear || clearableBy(before.stop_by_owner, robot.stop_clear) === 'anyone') {
    throw conflict('You can clear this stop yourself.')
  }
  const asked = await tx.db
    .updateTable('sessions')
    .set((eb) => ({ stop_clear_requested_at: act.at, event_seq: eb('event_seq', '+', 1) }))
    .where('id', '=', session.id)
    .where('stop_at', 'is not', null)
    .where((eb) =>
      eb.or([
        eb('stop_clear_requested_at', 'is', null),
        eb('stop_clear_requested_at', '<=', new Date(act.at.getTime() - ASK_EVERY_MS)),
      ]),
    )
    .returningAll()
    .executeTakeFirst()
  if (!asked) return
  await tell(tx, asked, robot.name, {
    ...act,
    type: 'session.stop_clear_requested',
    notifyUserIds: [
      asked.client_id,
      ...(asked.stop_by_role === 'admin' && asked.stop_by_id ? [asked.stop_by_id] : []),
    ],
  })
}

/**
 * Tells whether an end would take away a stop that only the owner or an admin may clear. The robot is on hold then:
 * otherwise an operator would clear the stop by ending the session and starting another one. The caller has locked the
 * robot, so that no stop comes between this look and the end.
 */
export async function endsUnderOwnersStop(
  tx: Tx,
  sessionId: string,
  robot: RobotRecord,
  act: Act,
): Promise<boolean> {
  if (act.asAdmin || act.actorId === robot.owner_id) return false
  const stop = await stopOf(tx, sessionId)
  return stop !== undefined && clearableBy(stop.stop_by_owner, robot.stop_clear) === 'owner'
}
