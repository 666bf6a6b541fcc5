import type { NotificationType, PlatformReason, SessionStatus } from '@wheelhouse/protocol'
import { type ExpressionBuilder, type Selectable, sql, type UpdateObject } from 'kysely'
import { iso } from '../../../core/database/iso.ts'
import type { Tables } from '../../../core/database/tables.ts'
import type { Tx } from '../../../core/events/transactor.ts'
import { linkChanged } from '../../robots/index.ts'
import type { SessionRow } from './session.view.ts'
import { appendToLog, type LogEntry } from './session-event-log.ts'
import { countActiveTime, newOutage, selectOutageBefore } from './session-time.ts'

export type SessionRecord = Selectable<Tables['sessions']>
/** A session after a statement that counted its ACTIVE time, with the outage time before it. */
export type SessionWithOutage = SessionRecord & { readonly outage_before_ms: number }
export type RobotRecord = Selectable<Tables['robots']>

/** When, by whom and why an action is performed. Without an actor, the platform performs it. */
export type ActionContext = {
  readonly at: Date
  /** Whether the actor is an admin, regardless of the actor's role in the session. */
  readonly asAdmin?: boolean
  /** Whether the actor may act as the owner of the robot. */
  readonly asClient?: boolean
  /** With what the actor is signed in, for the audit log. */
  readonly credential?: string
} & (
  | { readonly actorId: string; readonly reason?: string }
  // A reason of the platform is a code; packages/protocol/reason-texts.ts has its text.
  | { readonly actorId?: never; readonly reason?: PlatformReason }
)

/** Performs one action in a transaction that has locked the robot. Throws 409 if the state does not allow it. */
export type TransitionHandler = (
  tx: Tx,
  session: SessionRow,
  robot: RobotRecord,
  context: ActionContext,
) => Promise<void>

/**
 * Locks the robot. Every transaction that changes a robot and its session locks the robot first, presence included, so
 * that transactions cannot deadlock.
 */
export async function lockRobot(tx: Tx, robotId: string): Promise<RobotRecord> {
  return await tx.db
    .selectFrom('robots')
    .selectAll()
    .where('id', '=', robotId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
}

/** Returns whether the robot is connected. The result cannot change while the robot is locked. */
export async function isConnected(tx: Tx, robotId: string): Promise<boolean> {
  const row = await tx.db
    .selectFrom('robot_presence')
    .select('connected')
    .where('robot_id', '=', robotId)
    .executeTakeFirst()
  return row?.connected ?? false
}

/**
 * Changes the status of a session if its status is one of `from`. The same update counts the ACTIVE time up to `at` and
 * assigns the next log number. Returns undefined if the session has another status, or, with `unlessStopped`, if a stop
 * is latched.
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
 * Assigns the next log number of a session, which locks its row, if its status is one of `from`. Does not change the
 * status. Returns undefined if the session has another status.
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

/** Returns the columns that end the current pause and add its length to `paused_ms`. */
export function endPauseColumns(at: Date) {
  return {
    // A clock that was set back must not shorten earlier pauses.
    paused_ms: sql<number>`paused_ms + greatest(0, coalesce(
      (extract(epoch from ${at}::timestamptz - paused_at) * 1000)::bigint, 0))`,
    paused_at: null,
    pause_reason: null,
    operator_gone_at: null,
    ends_at: null,
  }
}

/** Selects the robot's last heartbeat in the `returning` clause of an update of robots. */
export const lastHeartbeat = ({ selectFrom }: ExpressionBuilder<Tables, 'robots'>) =>
  selectFrom('robot_presence')
    .select('last_heartbeat')
    .whereRef('robot_presence.robot_id', '=', 'robots.id')
    .as('last_heartbeat')

/** Emits the robot's new status to the hub and makes its gateway reload the robot's state. */
export function emitRobotStatus(tx: Tx, robot: RobotRecord & { last_heartbeat: Date | null }): void {
  tx.robotsChanged(robot.id)
  tx.publish('robots.status', {
    robots: [
      {
        robot_id: robot.id,
        owner_id: robot.owner_id,
        robot_type: robot.robot_type,
        require_certification: robot.require_certification,
        group_id: robot.group_id,
        operators: robot.operators,
        status: robot.status,
        last_heartbeat: iso(robot.last_heartbeat),
      },
    ],
  })
}

export type TransitionRecord = ActionContext & {
  /** Other entries make no notifications. */
  readonly type: LogEntry['type'] & NotificationType
  /** The users to notify. The owner of the robot stands for those members of an organization who look after its robots. */
  readonly notifyUserIds: readonly string[]
  /** Whether the actor is not notified. */
  readonly exceptActor?: boolean
  /** Additional fields of the log entry and the notifications. */
  readonly details?: Readonly<Record<string, unknown>>
}

/** Records a transition (see `recordTransition`) and makes the robot's gateway reload the robot's state. */
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
 * Appends a transition to the session's log and notifies the given users. Requires no lock on the robot. The entry
 * contains an outage that the transition revealed, so that the charge can be derived from the log.
 */
export async function recordTransition(
  tx: Tx,
  session: SessionRecord | SessionWithOutage,
  robotName: string,
  change: TransitionRecord,
): Promise<void> {
  const { type, at, actorId, reason, exceptActor } = change
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
  const robot = { organizationId: session.client_id, robotId: session.robot_id }
  const recipients = change.notifyUserIds.map((userId) => (userId === session.client_id ? robot : { userId }))
  await tx.notify(
    at,
    recipients.map((recipient) => ({ ...recipient, type, data: notificationData, actorId, exceptActor })),
  )
}

/** Returns that the client and the operator of a session are notified, without the actor. */
export const otherParticipants = (session: SessionRecord) => ({
  notifyUserIds: [session.client_id, session.operator_id],
  exceptActor: true,
})
