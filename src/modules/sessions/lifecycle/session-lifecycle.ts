import { actionTexts, type EndReason, type Role, roleTexts, type SessionAction } from '@wheelhouse/protocol'
import { type RawBuilder, sql } from 'kysely'
import { audit } from '../../../core/audit/audit.ts'
import type { Db } from '../../../core/database/tables.ts'
import { conflict, forbidden } from '../../../core/errors/errors.ts'
import type { Transact, Tx } from '../../../core/events/transactor.ts'
import type { Caller } from '../../../core/http/endpoint.ts'
import { credentialOf, requireKeyFor } from '../../../core/permissions/authorization.ts'
import { partsIn } from '../../../core/permissions/session-part.ts'
import type { Settle } from '../../billing/index.ts'
import { linkChanged } from '../../robots/index.ts'
import {
  approveExtension,
  declineExtension,
  expireExtension,
  requestedBooking,
} from '../extensions/extension-transitions.ts'
import { holdsControl, isVacant } from '../lease/lease-store.ts'
import { withOverlapErrors } from '../record/booking.service.ts'
import type { SessionDetailRow, SessionRow } from '../record/session.view.ts'
import { pause } from '../record/session-pause.ts'
import type { SessionQueries } from '../record/session-queries.ts'
import {
  type ActionContext,
  broadcastTransition,
  emitRobotStatus,
  endPauseColumns,
  isConnected,
  lastHeartbeat,
  lockRobot,
  otherParticipants,
  type RobotRecord,
  recordTransition,
  type SessionRecord,
  type TransitionHandler,
  transition,
} from '../record/session-transitions.ts'
import { lostSessions, recordRobotReturn } from './session-presence.ts'
import type { SessionStarts } from './session-start.ts'
import { clearedStopColumns, emergencyStop, isStopped } from './session-stop.ts'
import { clearStop, requestClearStop, requiresHoldAfterEnd } from './stop-clearing.ts'

/**
 * The roles that may perform each action. Admins do not take part in a session, but they may stop its robot, and pause
 * and end an abandoned session. These actions are audited.
 */
const allowedRoles: Record<SessionAction, readonly ('operator' | 'client' | 'admin')[]> = {
  start: ['operator'],
  pause: ['operator', 'client', 'admin'],
  resume: ['operator'],
  end: ['operator', 'client', 'admin'],
  cancel: ['operator', 'client'],
  emergency_stop: ['operator', 'client', 'admin'],
  clear_stop: ['operator', 'client', 'admin'],
  request_clear_stop: ['operator'],
  approve_extension: ['operator'],
  decline_extension: ['operator'],
}

/** Returns the error message for a caller who may not perform an action. */
function describeAllowedRoles(action: SessionAction): string {
  const roles = allowedRoles[action].map((role) => `the ${roleTexts[role].toLowerCase()}`)
  return `Only ${roles.join(' or ')} of the session may ${actionTexts[action]}.`
}

interface UserActionContext {
  readonly actorId: string
  readonly asAdmin: boolean
  readonly asClient: boolean
  readonly credential: string
  readonly reason?: string
}

/** Performs the transitions of existing sessions. Each is one transaction: state, log, notifications, outbox. */
export function createSessionLifecycle(deps: {
  db: Db
  transact: Transact
  now: () => Date
  queries: SessionQueries
  starts: SessionStarts
  settle: Settle
}) {
  const { db, transact, now, queries, starts, settle } = deps
  const transitions = createTransitionHandlers(settle)

  async function apply(
    session: SessionRow,
    action: SessionAction,
    initiator: UserActionContext,
  ): Promise<void> {
    if (action === 'start') {
      await starts.startScheduled(session, initiator.actorId)
      return
    }
    const work = () =>
      transact(async (tx) => {
        const robot = await lockRobot(tx, session.robot_id)
        // The time is read after the lock, so that the times of the log are in the order of its numbers.
        await transitions[action](tx, session, robot, { ...initiator, at: now() })
      })
    await withOverlapErrors(db, () => requestedBooking(db, session.id, now()), work)
  }

  return {
    /**
     * Performs an action for the caller and returns the session after the action.
     * @throws 404 when the caller may not see the session; 403 when the caller may not perform the action; 409 when the
     *   state of the session does not allow it.
     */
    async performAction(
      caller: Caller,
      sessionId: string,
      action: SessionAction,
      reason?: string,
    ): Promise<SessionDetailRow> {
      const isStop = action === 'emergency_stop'
      const find = isStop ? queries.stoppable : queries.get
      const session = await find(caller, sessionId)
      const parts = partsIn(caller, session, isStop ? 'sessions.stop' : 'sessions.manage')
      // Found although the request acts for another organization: its operator or a member.
      const other = session.operator_id === caller.userId ? 'operator' : 'client'
      const roles: Role[] = isStop && parts.length === 0 ? [other] : parts
      // A person who has taken control goes on where the operator could. A program does not undo a pause.
      const asHolder =
        action === 'resume' && !caller.isProgram && (await holdsControl(db, session.id, caller.userId))
      const drives = asHolder || roles.includes('operator')
      if (!isStop) requireKeyFor(caller, drives ? 'sessions.drive' : 'sessions.manage')
      if (!asHolder && !roles.some((role) => allowedRoles[action].includes(role))) {
        throw forbidden('action_not_allowed', describeAllowedRoles(action))
      }
      await apply(session, action, {
        actorId: caller.userId,
        ...(reason !== undefined && { reason }),
        asAdmin: roles.includes('admin'),
        asClient: roles.includes('client'),
        credential: credentialOf(caller),
      })
      return await find(caller, sessionId)
    },

    /**
     * Ends an open session with `robot_lost` if its robot was lost before `before` and has not returned. Returns whether
     * the session was ended.
     */
    endLost: (session: Pick<SessionRecord, 'id' | 'robot_id'>, before: Date): Promise<boolean> =>
      transact(async (tx) => {
        const robot = await lockRobot(tx, session.robot_id)
        const lost = await lostSessions(tx.db, before)
          .where('sessions.id', '=', session.id)
          .executeTakeFirst()
        return (
          lost !== undefined && (await end(settle, tx, session, robot, { at: now(), reason: 'robot_lost' }))
        )
      }),

    /** Ends a paused session that is due. Returns false when it is no longer due: it was resumed or ended before. */
    endPause: (
      session: Pick<SessionRow, 'id' | 'robot_id'>,
      isDue: RawBuilder<boolean>,
      reason: EndReason,
    ): Promise<boolean> =>
      transact(async (tx) => {
        const robot = await lockRobot(tx, session.robot_id)
        const expiredPause = await tx.db
          .selectFrom('sessions')
          .select('id')
          .where('id', '=', session.id)
          .where(isDue)
          .executeTakeFirst()
        return expiredPause !== undefined && (await end(settle, tx, session, robot, { at: now(), reason }))
      }),

    /** Cancels a scheduled session on behalf of the platform. Returns false when it is no longer PENDING. */
    cancelBySystem: (session: Pick<SessionRecord, 'id' | 'robot_id'>, reason: EndReason): Promise<boolean> =>
      transact(async (tx) => {
        const robot = await lockRobot(tx, session.robot_id)
        return await cancel(tx, session, robot, { at: now(), reason })
      }),

    /**
     * Cancels a scheduled session whose operator has another open session on the same robot. Returns false when that
     * session is over or the scheduled one is no longer PENDING.
     */
    cancelSuperseded: (session: Pick<SessionRow, 'id' | 'robot_id'>): Promise<boolean> =>
      transact(async (tx) => {
        const robot = await lockRobot(tx, session.robot_id)
        const open = await tx.db
          .selectFrom('sessions as open')
          .innerJoin('sessions as due', 'due.operator_id', 'open.operator_id')
          .select('open.id')
          .where('due.id', '=', session.id)
          .where('open.robot_id', '=', robot.id)
          .where('open.status', 'in', ['ACTIVE', 'PAUSED'])
          .executeTakeFirst()
        return open !== undefined && (await cancel(tx, session, robot, { at: now(), reason: 'superseded' }))
      }),

    /** Cancels the scheduled sessions of a robot, in the transaction that removes the robot. */
    async cancelScheduled(tx: Tx, robotId: string): Promise<void> {
      const robot = await lockRobot(tx, robotId)
      const pending = await tx.db
        .selectFrom('sessions')
        .select('id')
        .where('robot_id', '=', robotId)
        .where('status', '=', 'PENDING')
        .orderBy('id')
        .execute()
      for (const session of pending) await cancel(tx, session, robot, { at: now(), reason: 'robot_removed' })
    },
  }
}
export type SessionLifecycle = ReturnType<typeof createSessionLifecycle>

const createTransitionHandlers = (
  settle: Settle,
): Record<Exclude<SessionAction, 'start'>, TransitionHandler> => ({
  async pause(tx, session, robot, context) {
    if (!(await pause(tx, session, robot, context)))
      throw conflict('session_not_active', 'Only an active session can be paused. Check its status.')
    await auditAdmin(tx, session, context, 'session.paused')
  },

  async resume(tx, session, robot, context) {
    if (!(await isConnected(tx, robot.id)))
      throw conflict(
        'robot_offline',
        'The robot is offline. Resume the session when the robot is connected again.',
      )
    // The gateway may not have recorded the robot's return yet. A resumed session must not have a lost robot.
    await recordRobotReturn(tx, robot, context.at)
    if (await isVacant(tx, session.id))
      throw conflict('control_vacant', 'Nobody controls the robot. Take control first.')
    const change = { status: 'ACTIVE', ...endPauseColumns(context.at) } as const
    const resumed = await transition(tx, session.id, ['PAUSED'], context.at, change, { unlessStopped: true })
    if (!resumed && (await isStopped(tx, session.id)))
      throw conflict('stop_in_force', 'A stop is latched. Clear the stop first.')
    if (!resumed)
      throw conflict('session_not_paused', 'Only a paused session can be resumed. Check its status.')
    await broadcastTransition(tx, resumed, robot, {
      ...context,
      type: 'session.resumed',
      ...otherParticipants(resumed),
    })
  },

  async end(tx, session, robot, context) {
    if (!(await end(settle, tx, session, robot, context)))
      throw conflict('session_not_open', 'Only an active or paused session can be ended. Check its status.')
    await auditAdmin(tx, session, context, 'session.ended')
  },

  async cancel(tx, session, robot, context) {
    if (!(await cancel(tx, session, robot, context)))
      throw conflict(
        'session_not_scheduled',
        'Only a scheduled session can be cancelled. End a session that has started.',
      )
  },

  emergency_stop: emergencyStop,
  clear_stop: clearStop,
  request_clear_stop: requestClearStop,
  approve_extension: approveExtension,
  decline_extension: declineExtension,
})

/** Audits an action of an admin. The session's log is sufficient for actions of the client and the operator. */
async function auditAdmin(
  tx: Tx,
  session: SessionRow,
  context: ActionContext,
  action: string,
): Promise<void> {
  if (context.asClient || context.actorId === session.operator_id) return
  await audit(tx, {
    at: context.at,
    organizationId: session.client_id,
    actorId: context.actorId,
    credential: context.credential,
    action,
    subject: ['session', session.id],
    data: context.reason === undefined ? {} : { reason: context.reason },
  })
}

async function end(
  settle: Settle,
  tx: Tx,
  session: { id: string },
  robot: RobotRecord,
  context: ActionContext,
): Promise<boolean> {
  const putsOnHold = await requiresHoldAfterEnd(tx, session.id, robot, context) // before the end clears the stop
  const ended = await transition(tx, session.id, ['ACTIVE', 'PAUSED'], context.at, {
    status: 'COMPLETED',
    // The clocks of processes may differ slightly. A session never ends before it starts.
    ended_at: sql<Date>`greatest(${context.at}::timestamptz, started_at)`,
    end_reason: context.reason ?? 'ended',
    ...endPauseColumns(context.at),
    ...clearedStopColumns,
  })
  if (!ended) return false
  await settle(tx, ended, context)
  await expireExtension(tx, ended.id, context.at)
  emitRobotStatus(tx, await releaseRobot(tx, ended, robot, putsOnHold))
  if (putsOnHold)
    await audit(tx, {
      at: context.at,
      organizationId: ended.client_id,
      actorId: context.actorId,
      credential: context.credential,
      action: 'robot.hold_set',
      subject: ['robot', robot.id],
      data: { session_id: ended.id },
    })
  await recordTransition(tx, ended, robot.name, {
    ...context,
    type: 'session.ended',
    notifyUserIds: [ended.client_id, ended.operator_id],
  })
  return true
}

/** Sets the robot AVAILABLE, or OFFLINE if it is disconnected, and adds the session's length to its hours. */
async function releaseRobot(tx: Tx, ended: SessionRecord, robot: RobotRecord, putsOnHold: boolean) {
  const connected = await isConnected(tx, robot.id)
  const lengthMs = (ended.ended_at?.getTime() ?? 0) - (ended.started_at?.getTime() ?? 0)
  return await tx.db
    .updateTable('robots')
    .set((eb) => ({
      ...linkChanged,
      status: connected ? ('AVAILABLE' as const) : ('OFFLINE' as const),
      ...(putsOnHold && { on_hold: true }),
      session_seconds: eb('session_seconds', '+', Math.round(lengthMs / 1_000)),
    }))
    .where('id', '=', robot.id)
    .returningAll()
    .returning(lastHeartbeat)
    .executeTakeFirstOrThrow()
}

async function cancel(
  tx: Tx,
  session: { id: string },
  robot: RobotRecord,
  context: ActionContext,
): Promise<boolean> {
  const cancelled = await transition(tx, session.id, ['PENDING'], context.at, {
    status: 'CANCELLED',
    ended_at: context.at,
    end_reason: context.reason ?? 'cancelled',
  })
  if (!cancelled) return false
  await broadcastTransition(tx, cancelled, robot, {
    ...context,
    type: 'session.cancelled',
    ...otherParticipants(cancelled),
  })
  return true
}
