import { sql } from 'kysely'
import { audit } from '../admin/audit.ts'
import type { Tx } from '../events/transactor.ts'
import { conflict } from '../http/errors.ts'
import { announce, type Move, move } from './session.changes.ts'

/**
 * The latched stop: while `stop_at` is set it is in force, the session is PAUSED and cannot resume. It belongs to
 * its session, so an end takes it away: the next session must not begin with somebody else's stop.
 */
export const withoutStop = { stop_reason: null, stop_at: null, stop_by_id: null }

const DEFAULT_REASON = 'emergency_stop'

/** Whether a stop is in force. */
export async function isStopped(tx: Tx, sessionId: string): Promise<boolean> {
  return (await stopOf(tx, sessionId)) !== undefined
}

async function stopOf(tx: Tx, sessionId: string) {
  return await tx.db
    .selectFrom('sessions')
    .select(['stop_reason', 'stop_at', 'stop_by_id'])
    .where('id', '=', sessionId)
    .where('stop_at', 'is not', null)
    .executeTakeFirst()
}

/**
 * Stops the robot until somebody clears the stop. Never refused while the session is open: a stop upon a stop
 * changes nothing, the first one's reason stands.
 */
export const emergencyStop: Move = async (tx, session, robot, act) => {
  const reason = act.reason?.trim() || DEFAULT_REASON
  const change = {
    status: 'PAUSED',
    stop_reason: reason,
    stop_at: act.at,
    stop_by_id: act.actorId ?? null,
    paused_at: sql<Date>`coalesce(paused_at, ${act.at}::timestamptz)`,
    pause_reason: sql<string>`coalesce(pause_reason, ${DEFAULT_REASON})`,
  } as const
  const stopped = await move(tx, session.id, ['ACTIVE', 'PAUSED'], act.at, change, { unlessStopped: true })
  if (!stopped) {
    if (await isStopped(tx, session.id)) return
    throw conflict('Only an ACTIVE or PAUSED session can be stopped')
  }
  await announce(tx, stopped, robot, {
    ...act,
    reason,
    type: 'session.stopped',
    notifyUserIds: [stopped.client_id, stopped.operator_id],
  })
  const byParty = act.actorId === stopped.client_id || act.actorId === stopped.operator_id
  if (byParty) return
  await audit(tx, {
    at: act.at,
    actorId: act.actorId,
    action: 'session.stopped',
    subject: ['session', session.id],
    data: { reason },
  })
}

/** Takes the stop away. The session stays PAUSED: that it may move again is a second, separate act. */
export const clearStop: Move = async (tx, session, robot, act) => {
  const stop = await stopOf(tx, session.id)
  const cleared = await tx.db
    .updateTable('sessions')
    .set((eb) => ({ ...withoutStop, event_seq: eb('event_seq', '+', 1) }))
    .where('id', '=', session.id)
    .where('stop_at', 'is not', null)
    .returningAll()
    .executeTakeFirst()
  if (!cleared || !stop) throw conflict('No stop is in force')
  await announce(tx, cleared, robot, {
    ...act,
    type: 'session.stop_cleared',
    notifyUserIds: [cleared.client_id, cleared.operator_id],
  })
  await audit(tx, {
    at: act.at,
    actorId: act.actorId,
    action: 'session.stop_cleared',
    subject: ['session', session.id],
    data: { ...stop, ...(act.reason !== undefined && { reason: act.reason }) },
  })
}
