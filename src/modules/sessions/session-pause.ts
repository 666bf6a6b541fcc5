import { sql } from 'kysely'
import type { Tx } from '../../core/events/transactor.ts'
import { type Act, announce, move, otherSide, type RobotRecord } from './session-changes.ts'

/**
 * Pauses a session, as part of a transaction that has locked the robot. Whoever did not do it is told: both sides
 * when the platform did. False when the session is not ACTIVE.
 */
export async function pause(
  tx: Tx,
  session: { readonly id: string },
  robot: RobotRecord,
  act: Act,
): Promise<boolean> {
  const paused = await move(tx, session.id, ['ACTIVE'], act.at, {
    status: 'PAUSED',
    paused_at: act.at,
    pause_reason: act.reason ?? 'requested',
  })
  if (!paused) return false
  await announce(tx, paused, robot, {
    ...act,
    type: 'session.paused',
    notifyUserIds: otherSide(paused, act.actorId),
  })
  return true
}

export interface PauseLimits {
  readonly pausedBefore: Date
  readonly announcedBefore: Date
}

/** A predicate on sessions: the pause has reached its limit, and both sides have known of that for long enough. */
export const isPauseOver = ({ pausedBefore, announcedBefore }: PauseLimits) =>
  sql<boolean>`(status = 'PAUSED' and paused_at <= ${pausedBefore}::timestamptz
    and pause_announced_at between paused_at and ${announcedBefore}::timestamptz)`
