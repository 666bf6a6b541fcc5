import type { SessionStatus } from '@wheelhouse/protocol'
import { type Selectable, sql, type UpdateObject } from 'kysely'
import { iso } from '../db/iso.ts'
import type { Tables } from '../db/orm.ts'
import type { Tx } from '../events/transactor.ts'
import { notify } from '../notifications/notify.ts'
import { linkChanged } from '../robots/link-changed.ts'
import { appendToLog, type LogEntry } from './session.log.ts'
import { countActiveTime } from './session.time.ts'

export type SessionRecord = Selectable<Tables['sessions']>
export type RobotRecord = Selectable<Tables['robots']>

/**
 * Locks the robot of a change before its session. Every transaction that touches both takes them in this
 * order, presence included, so none waits for another in a circle.
 */
export async function lockRobot(tx: Tx, robotId: string): Promise<RobotRecord> {
  return await tx.db
    .selectFrom('robots')
    .selectAll()
    .where('id', '=', robotId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
}

/** Whether the robot's newest connection is up; stable while the robot is locked. */
export async function isConnected(tx: Tx, robotId: string): Promise<boolean> {
  const row = await tx.db
    .selectFrom('robot_presence')
    .select('connected')
    .where('robot_id', '=', robotId)
    .executeTakeFirst()
  return row?.connected ?? false
}

/**
 * Moves a session from one of the given states. The same update counts its ACTIVE time up to `at` and takes the
 * next number of its log. Returns undefined when the session is in another state by now.
 */
export async function move(
  tx: Tx,
  sessionId: string,
  from: readonly SessionStatus[],
  at: Date,
  change: UpdateObject<Tables, 'sessions'> & { readonly status: SessionStatus },
): Promise<SessionRecord | undefined> {
  return await tx.db
    .updateTable('sessions')
    .set((eb) => ({
      ...change,
      ...countActiveTime(change.status, at),
      event_seq: eb('event_seq', '+', 1),
    }))
    .where('id', '=', sessionId)
    .where('status', 'in', from)
    .returningAll()
    .executeTakeFirst()
}

/** Ends the present pause: adds its length to the pauses that are over. */
export function withoutPause(at: Date) {
  return {
    // A clock that stepped back must not shorten earlier pauses.
    paused_ms: sql<number>`paused_ms + greatest(0, coalesce(
      (extract(epoch from ${at}::timestamptz - paused_at) * 1000)::bigint, 0))`,
    paused_at: null,
    pause_reason: null,
  }
}

/** Tells those who watch a robot the status that this transaction gave it. */
export async function tellRobotStatus(tx: Tx, robot: RobotRecord): Promise<void> {
  const presence = await tx.db
    .selectFrom('robot_presence')
    .select('last_heartbeat')
    .where('robot_id', '=', robot.id)
    .executeTakeFirstOrThrow()
  tx.record('robots.status', {
    robots: [
      {
        robot_id: robot.id,
        owner_id: robot.owner_id,
        robot_type: robot.robot_type,
        status: robot.status,
        last_heartbeat: iso(presence.last_heartbeat),
      },
    ],
  })
}

/** Logs a change, notifies the people it concerns and lets the robot's gateway know. */
export async function announce(
  tx: Tx,
  session: SessionRecord,
  robot: RobotRecord,
  change: {
    type: LogEntry['type']
    at: Date
    notifyUserIds: readonly string[]
    actorId?: string
    reason?: string
  },
): Promise<void> {
  const { type, at, actorId, reason } = change
  await tx.db.updateTable('robots').set(linkChanged).where('id', '=', robot.id).execute()
  tx.robotsChanged(robot.id)
  const data = {
    status: session.status,
    ...(actorId !== undefined && { actor_id: actorId }),
    ...(reason !== undefined && { reason }),
  }
  await appendToLog(tx, { sessionId: session.id, seq: session.event_seq, type, at, data })
  const about = {
    session_id: session.id,
    robot_id: robot.id,
    robot_name: robot.name,
    ...(reason !== undefined && { reason }),
  }
  const userIds = [...new Set(change.notifyUserIds)]
  await notify(
    tx,
    at,
    userIds.map((userId) => ({ userId, type, data: about })),
  )
}
