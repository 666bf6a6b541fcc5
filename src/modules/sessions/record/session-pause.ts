import { sql } from 'kysely'
import type { Tx } from '../../../core/events/transactor.ts'
import {
  type ActionContext,
  broadcastTransition,
  otherParticipants,
  type RobotRecord,
  transition,
} from './session-transitions.ts'

/**
 * Pauses a session in a transaction that has locked the robot. Notifies client and operator, except the actor. Returns
 * false when the session is not ACTIVE.
 */
export async function pause(
  tx: Tx,
  session: { readonly id: string },
  robot: RobotRecord,
  context: ActionContext,
): Promise<boolean> {
  const paused = await transition(tx, session.id, ['ACTIVE'], context.at, {
    status: 'PAUSED',
    paused_at: context.at,
    pause_reason: context.reason ?? 'requested',
    operator_gone_at: context.actorId === undefined && context.reason === 'operator_lost' ? context.at : null,
  })
  if (!paused) return false
  await broadcastTransition(tx, paused, robot, {
    ...context,
    type: 'session.paused',
    ...otherParticipants(paused),
  })
  return true
}

export interface PauseLimits {
  readonly pausedBefore: Date
  readonly announcedBefore: Date
}

/** Matches sessions whose pause has reached its limit, and whose limit was announced early enough. */
export const isPauseExpired = ({ pausedBefore, announcedBefore }: PauseLimits) =>
  sql<boolean>`(status = 'PAUSED' and paused_at <= ${pausedBefore}::timestamptz
    and pause_announced_at between paused_at and ${announcedBefore}::timestamptz)`
