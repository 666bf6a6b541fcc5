import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { audit } from '../../../core/audit/audit.ts'
import { columnsOf } from '../../../core/database/columns.ts'
import { compiled } from '../../../core/database/compiled.ts'
import type { Db } from '../../../core/database/tables.ts'
import { badRequest, conflict, uniqueViolation } from '../../../core/errors/errors.ts'
import type { Transact, Tx } from '../../../core/events/transactor.ts'
import { currentPlanId, planTerms } from '../../billing/index.ts'
import { bookingOf, DEFAULT_PLANNED_MINUTES, withOverlapErrors } from '../record/booking.service.ts'
import { Session } from '../record/session.entity.ts'
import {
  broadcastTransition,
  type RobotRecord,
  recordTransition,
  type SessionRecord,
  transition,
} from '../record/session-transitions.ts'
import {
  claimRobot,
  isOwnOperator,
  lockedOperator,
  requireAvailableRobot,
  requireCertification,
  requireNoOpenSession,
  requireOperator,
  type SessionOperator,
} from './session-preconditions.ts'

/** How far ahead a session may be scheduled. */
const MAX_SCHEDULE_AHEAD_MS = 90 * 24 * 3_600_000

/** The price of a session that a member of the robot's organization drives. */
const FREE = { client_rate_cents_per_minute: 0, operator_share_percent: 0 }

/** The robot and planned length of a new session. */
export interface StartRequest {
  readonly robotId: string
  readonly plannedMinutes?: number | undefined
}

/** Starts and schedules sessions. */
export function createSessionStarts(deps: { db: Db; transact: Transact; now: () => Date }) {
  const { db, transact, now } = deps

  /** Runs work that creates a session. Turns an overlap with another session into a conflict that names it. */
  const withBookingWindow = <T>(
    operatorId: string,
    request: StartRequest,
    from: () => Date,
    work: () => Promise<T>,
  ) =>
    withOverlapErrors(
      db,
      async () => {
        const { robotId, plannedMinutes = DEFAULT_PLANNED_MINUTES } = request
        return bookingOf({ robot_id: robotId, operator_id: operatorId }, from(), plannedMinutes)
      },
      () => mapToConflict(work),
    )

  return {
    /**
     * Starts a session immediately. A session without a planned length has no window and cannot overlap a booking.
     * @throws 404 when the robot does not exist; 403 when the operator lacks a required certification; 409 when the robot
     *   is not AVAILABLE, the operator already has an open session, or the planned length overlaps a booking.
     */
    startNow: (
      operator: SessionOperator,
      request: StartRequest,
      actorId: string,
      credential?: string,
    ): Promise<SessionRecord> =>
      withBookingWindow(operator.id, request, now, () =>
        transact(async (tx) => {
          const robot = await claimRobot(tx, request.robotId)
          // The time is read after the claim, so that the previous session of the robot ends before this one starts.
          const at = now()
          const isOwn = await isOwnOperator(tx, robot, operator)
          if (!isOwn) await requireCertification(tx, robot, operator.id)
          const session = await insertStartedSession(tx, robot, {
            operatorId: operator.id,
            isOwn,
            at,
            plannedMinutes: request.plannedMinutes ?? null,
          })
          await recordTransition(tx, session, robot.name, {
            type: 'session.started',
            at,
            actorId,
            notifyUserIds: participantsToNotify(session, actorId),
          })
          await auditOnBehalf(tx, session, at, actorId, credential)
          return session
        }),
      ),

    /**
     * Schedules a session, under the same preconditions as an immediate start.
     * @throws additionally 409 when it overlaps another planned session of the robot or the operator.
     */
    schedule: (
      operator: SessionOperator,
      request: StartRequest,
      scheduledFor: Date,
      actorId: string,
      credential?: string,
    ): Promise<SessionRecord> =>
      withBookingWindow(
        operator.id,
        request,
        () => scheduledFor,
        () =>
          transact(async (tx) => {
            const at = now()
            const aheadMs = scheduledFor.getTime() - at.getTime()
            if (aheadMs <= 0) throw badRequest('scheduledFor: must be in the future')
            if (aheadMs > MAX_SCHEDULE_AHEAD_MS)
              throw badRequest('scheduledFor: must be within the next 90 days')
            const robot = await requireAvailableRobot(tx, request.robotId)
            const operatorId = operator.id
            const isOwn = await isOwnOperator(tx, robot, operator)
            if (!isOwn) await requireCertification(tx, robot, operatorId)
            await requireOperator(tx, operatorId, isOwn)
            await requireNoOpenSession(tx, operatorId)
            const session = await tx.db
              .insertInto('sessions')
              .values({
                id: randomUUID(),
                robot_id: robot.id,
                operator_id: operatorId,
                client_id: robot.owner_id,
                own_operator: isOwn,
                status: 'PENDING',
                scheduled_for: scheduledFor,
                planned_minutes: request.plannedMinutes ?? DEFAULT_PLANNED_MINUTES,
                created_at: at,
                event_seq: 1,
              })
              .returningAll()
              .executeTakeFirstOrThrow()
            await broadcastTransition(tx, session, robot, {
              type: 'session.scheduled',
              at,
              actorId,
              notifyUserIds: participantsToNotify(session, actorId),
            })
            await auditOnBehalf(tx, session, at, actorId, credential)
            return session
          }),
      ),

    /**
     * Starts a scheduled session, under the same preconditions as an immediate start. Without an actor, the scheduler
     * starts it at its time. The window of a session that starts early begins with the start.
     * @throws 409 when it is not PENDING, the robot is not AVAILABLE, the operator has an open session, or the window of
     *   an early start overlaps a booking.
     */
    startScheduled: (
      session: Pick<SessionRecord, 'id' | 'robot_id' | 'operator_id' | 'planned_minutes'>,
      actorId?: string,
    ): Promise<SessionRecord> =>
      withOverlapErrors(
        db,
        async () => bookingOf(session, now(), session.planned_minutes ?? DEFAULT_PLANNED_MINUTES),
        () =>
          mapToConflict(() =>
            transact(async (tx) => {
              const robot = await claimRobot(tx, session.robot_id)
              const at = now()
              const { id: sessionId, operator_id: id } = session
              const isOwn = await isOwnOperator(tx, robot, { id, scheduledSessionId: sessionId })
              if (!isOwn) await requireCertification(tx, robot, id)
              await requireOperator(tx, id, isOwn)
              const started = await transition(tx, session.id, ['PENDING'], at, {
                status: 'ACTIVE',
                started_at: at,
                ...planTerms(sql.ref('sessions.client_id')),
                own_operator: isOwn,
                ...(isOwn && FREE),
              })
              if (!started)
                throw conflict(
                  'session_not_scheduled',
                  'Only a scheduled session can be started. This one has started, ended or was cancelled.',
                )
              await recordTransition(tx, started, robot.name, {
                type: 'session.started',
                at,
                ...(actorId !== undefined && { actorId }),
                notifyUserIds: [started.client_id, started.operator_id], // both agreed on the time
              })
              return started
            }),
          ),
      ),
  }
}
export type SessionStarts = ReturnType<typeof createSessionStarts>

/** Returns the users to notify of a start: the client, and the operator unless the operator is the actor. */
function participantsToNotify(session: SessionRecord, actorId: string): string[] {
  return [session.client_id, ...(session.operator_id === actorId ? [] : [session.operator_id])]
}

/** Audits a session that an admin starts or schedules for another operator. */
async function auditOnBehalf(
  tx: Tx,
  session: SessionRecord,
  at: Date,
  actorId: string,
  credential: string | undefined,
): Promise<void> {
  if (session.operator_id === actorId) return
  await audit(tx, {
    at,
    organizationId: session.client_id,
    actorId,
    credential,
    action: session.status === 'PENDING' ? 'session.scheduled_on_behalf' : 'session.started_on_behalf',
    subject: ['session', session.id],
    data: { operator_id: session.operator_id, robot_id: session.robot_id },
  })
}

interface NewActiveSession {
  readonly id: string
  readonly robotId: string
  readonly operatorId: string
  readonly clientId: string
  /** Whether the operator drives as a member of the organization, at no charge. */
  readonly isOwn: boolean
  readonly plannedMinutes: number | null
  readonly at: Date
}

/**
 * Inserts an ACTIVE session with the current price of its client's plan, if the operator has the role (see `requireOperator`; one
 * statement saves a round trip).
 */
const insertActive = compiled<NewActiveSession>()((db, param) => {
  const uuid = (name: 'id' | 'robotId' | 'operatorId' | 'clientId') => sql<string>`${param(name)}::uuid`
  const at = sql<Date>`${param('at')}::timestamptz`
  const isOwn = sql<boolean>`${param('isOwn')}::boolean`
  return db
    .with('operator', (cte) => lockedOperator(cte, param('operatorId'), param('isOwn')))
    .insertInto('sessions')
    .columns([
      'id',
      'robot_id',
      'operator_id',
      'client_id',
      'own_operator',
      'status',
      'event_seq',
      'planned_minutes',
      'created_at',
      'started_at',
      'active_since',
      'plan_id',
      'client_rate_cents_per_minute',
      'operator_share_percent',
    ])
    .expression(({ selectFrom, lit }) =>
      selectFrom(['pricing_plans', 'operator'])
        .select([
          uuid('id').as('id'),
          uuid('robotId').as('robot_id'),
          uuid('operatorId').as('operator_id'),
          uuid('clientId').as('client_id'),
          isOwn.as('own_operator'),
          sql<'ACTIVE'>`'ACTIVE'`.as('status'),
          lit(1).as('event_seq'),
          sql<number | null>`${param('plannedMinutes')}::int`.as('planned_minutes'),
          at.as('created_at'),
          at.as('started_at'),
          at.as('active_since'),
          'pricing_plans.id as plan_id',
          sql<number>`case when ${isOwn} then 0 else client_rate_cents_per_minute end`.as('rate'),
          sql<number>`case when ${isOwn} then 0 else operator_share_percent end`.as('share'),
        ])
        .where('pricing_plans.id', '=', currentPlanId(uuid('clientId'))),
    )
    .returning(columnsOf(Session))
})

async function insertStartedSession(
  tx: Tx,
  robot: RobotRecord,
  start: Pick<NewActiveSession, 'operatorId' | 'isOwn' | 'plannedMinutes' | 'at'>,
): Promise<SessionRecord> {
  const robotColumns = { robotId: robot.id, clientId: robot.owner_id }
  const [session] = await insertActive(tx.db, { id: randomUUID(), ...robotColumns, ...start })
  if (!session) {
    await requireOperator(tx, start.operatorId, start.isOwn)
    throw new Error('The client has no pricing plan.')
  }
  return session
}

/** Turns a violation of the unique indexes, the last guard against double starts, into a conflict. */
async function mapToConflict<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    const constraint = uniqueViolation(cause)
    if (constraint === 'one_open_session_per_operator') {
      throw conflict('operator_busy', 'The operator already has an open session. End it first.')
    }
    if (constraint === 'one_open_session_per_robot')
      throw conflict(
        'robot_in_session',
        'The robot is not available: it is in another session. Try again when it is free.',
      )
    throw cause
  }
}
