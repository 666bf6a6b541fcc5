import type { PlatformReason, SessionStatus } from '@wheelhouse/protocol'
import { type ExpressionBuilder, type Selectable, sql, type UpdateObject } from 'kysely'
import { iso } from '../../../core/database/iso.ts'
import type { Tables } from '../../../core/database/tables.ts'
import type { Tx } from '../../../core/events/transactor.ts'
import { linkChanged } from '../../robots/index.ts'
import type { SessionRow } from './session.view.ts'
import { appendToLog, type LogEntry } from './session-event-log.ts'
import { countActiveTime, newOutage, selectOutageBefore } from './session-time.ts'

export type SessionRecord = Selectable<Tables['sessions']>
/** A session after a statement that counted its ACTIVE time. */
export type SessionWithOutage = SessionRecord & { readonly outage_before_ms: number }
export type RobotRecord = Selectable<Tables['robots']>

/** What somebody does to a session; without an actor the platform itself does it. */
export type ActionContext = {
  readonly at: Date
  /** The actor is an admin, whatever else they are in the session. */
  readonly asAdmin?: boolean
} & (
  | { readonly actorId: string; readonly reason?: string }
  // A reason of the platform's own is a code with a text; see packages/protocol/reason-texts.ts.
  | { readonly actorId?: never; readonly reason?: PlatformReason }
)

/** One action as part of a transaction that has locked the robot. Throws 409 where it is not possible. */
export type TransitionHandler = (
  tx: Tx,
  session: SessionRow,
  robot: RobotRecord,
  context: ActionContext,
) => Promise<void>

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
 * next number of its log. Returns undefined when the session is in another state by now, or, with
 * `unlessStopped`, under a latched stop.
 */
export async function transition(
  tx: Tx,
  sessionId: string,
  from: readonly SessionStatus[],
  at: Date,
  change: UpdateObject<Tables, 'sessions'> & { readonly status: SessionStatus },
  { unlessStopped = false } = {},
): Promise<SessionWithOutage | undefined> {
  return await tx.db
    .with('before', (cte) => selectOutageBefore(cte).where('id', '=', sessionId))
    .updateTable('sessions')
    .from('before')
    .set((eb) => ({
      ...change,
      ...countActiveTime(change.status, at),
      event_seq: eb('event_seq', '+', 1),
    }))
    .whereRef('id', '=', 'before.counted_id')
    .where('status', 'in', from)
    .$if(unlessStopped, (query) => query.where('stop_at', 'is', null))
    .returningAll('sessions')
    .returning('before.outage_before_ms')
    .executeTakeFirst()
}

/**
 * Takes the next number of the log, and with it the lock, of a session in one of the given states, which stays as
 * it is. Returns undefined when it is in another state by now.
 */
export async function lockForLogEntry(
  tx: Tx,
  sessionId: string,
  from: readonly SessionStatus[],
): Promise<SessionRecord | undefined> {
  return await tx.db
    .updateTable('sessions')
    .set((eb) => ({ event_seq: eb('event_seq', '+', 1) }))
    .where('id', '=', sessionId)
    .where('status', 'in', from)
    .returningAll()
    .executeTakeFirst()
}

/** Ends the present pause: adds its length to the pauses that are over. */
export function endPauseColumns(at: Date) {
  return {
    // A clock that stepped back must not shorten earlier pauses.
    paused_ms: sql<number>`paused_ms + greatest(0, coalesce(
      (extract(epoch from ${at}::timestamptz - paused_at) * 1000)::bigint, 0))`,
    paused_at: null,
    pause_reason: null,
  }
}

/** For the `returning` of an update of robots: when it was last heard of. */
export const lastHeartbeat = ({ selectFrom }: ExpressionBuilder<Tables, 'robots'>) =>
  selectFrom('robot_presence')
    .select('last_heartbeat')
    .whereRef('robot_presence.robot_id', '=', 'robots.id')
    .as('last_heartbeat')

/** Tells those who watch a robot the status that this transaction gave it, and its gateway to look it up. */
export function emitRobotStatus(tx: Tx, robot: RobotRecord & { last_heartbeat: Date | null }): void {
  tx.robotsChanged(robot.id)
  tx.record('robots.status', {
    robots: [
      {
        robot_id: robot.id,
        owner_id: robot.owner_id,
        robot_type: robot.robot_type,
        require_certification: robot.require_certification,
        status: robot.status,
        last_heartbeat: iso(robot.last_heartbeat),
      },
    ],
  })
}

export type TransitionRecord = ActionContext & {
  /** Chat is not announced: it goes to those who watch. */
  readonly type: Exclude<LogEntry['type'], 'chat.message'>
  readonly notifyUserIds: readonly string[]
  /** What else log and notifications say. */
  readonly details?: Readonly<Record<string, unknown>>
}

/** Logs a change, notifies the people it concerns and lets the robot's gateway know. */
export async function broadcastTransition(
  tx: Tx,
  session: SessionRecord | SessionWithOutage,
  robot: RobotRecord,
  change: TransitionRecord,
): Promise<void> {
  await tx.db.updateTable('robots').set(linkChanged).where('id', '=', robot.id).execute()
  tx.robotsChanged(robot.id)
  await recordTransition(tx, session, robot.name, change)
}

/**
 * Logs a change that is none to the robot, and notifies the people it concerns. Needs no lock on the robot. An outage
 * that the change brought to light is part of the entry, so that the charge follows from the log.
 */
export async function recordTransition(
  tx: Tx,
  session: SessionRecord | SessionWithOutage,
  robotName: string,
  change: TransitionRecord,
): Promise<void> {
  const { type, at, actorId, reason } = change
  const details = { ...change.details, ...newOutage(session) }
  const data = {
    status: session.status,
    ...(actorId !== undefined && { actor_id: actorId }),
    ...(reason !== undefined && { reason }),
    ...details,
  }
  await appendToLog(tx, { sessionId: session.id, seq: session.event_seq, type, at, data })
  const notificationData = {
    session_id: session.id,
    robot_id: session.robot_id,
    robot_name: robotName,
    ...(reason !== undefined && { reason }),
    ...details,
  }
  const userIds = [...new Set(change.notifyUserIds)]
  await tx.notify(
    at,
    userIds.map((userId) => ({ userId, type, data: notificationData, own: userId === actorId })),
  )
}

/** Who did not do it themselves. */
export function otherParticipants(session: SessionRecord, actorId: string | undefined): string[] {
  return [session.client_id, session.operator_id].filter((userId) => userId !== actorId)
}
