import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { audit } from '../admin/audit.ts'
import { planOf, planTerms } from '../billing/plan.terms.ts'
import type { Transact, Tx } from '../events/transactor.ts'
import { type AppError, badRequest, conflict, forbidden, notFound, uniqueViolation } from '../http/errors.ts'
import {
  announce,
  lockRobot,
  move,
  type RobotRecord,
  type SessionRecord,
  tellRobotStatus,
} from './session.changes.ts'

const MAX_SCHEDULE_AHEAD_MS = 90 * 24 * 3_600_000

/** Starting and scheduling sessions. */
export function createSessionStarts(parts: { transact: Transact; now: () => Date }) {
  const { transact, now } = parts

  return {
    /**
     * Takes a robot at once.
     * @throws 404 unknown robot; 403 not certified where the owner asks for it; 409 the robot is not AVAILABLE
     *   or the operator already has an open session.
     */
    startNow: (operatorId: string, robotId: string, actorId: string): Promise<SessionRecord> =>
      asConflict(() =>
        transact(async (tx) => {
          const at = now()
          const robot = await claimRobot(tx, robotId)
          await requireCertification(tx, robot, operatorId)
          const session = await insertActive(tx, robot, operatorId, at)
          await announce(tx, session, robot, {
            type: 'session.started',
            at,
            actorId,
            notifyUserIds: concerned(session, actorId),
          })
          await auditOnBehalf(tx, session, at, actorId)
          return session
        }),
      ),

    /** Plans a session for later, under the same preconditions as an immediate start. */
    schedule: (
      operatorId: string,
      robotId: string,
      scheduledFor: Date,
      actorId: string,
    ): Promise<SessionRecord> =>
      transact(async (tx) => {
        const at = now()
        const aheadMs = scheduledFor.getTime() - at.getTime()
        if (aheadMs <= 0) throw badRequest('scheduledFor: must lie in the future')
        if (aheadMs > MAX_SCHEDULE_AHEAD_MS) throw badRequest('scheduledFor: must lie within 90 days')
        const robot = await availableRobot(tx, robotId)
        await requireCertification(tx, robot, operatorId)
        await requireNoOpenSession(tx, operatorId)
        const session = await tx.db
          .insertInto('sessions')
          .values({
            id: randomUUID(),
            robot_id: robot.id,
            operator_id: operatorId,
            client_id: robot.owner_id,
            status: 'PENDING',
            scheduled_for: scheduledFor,
            created_at: at,
            event_seq: 1,
          })
          .returningAll()
          .executeTakeFirstOrThrow()
        await announce(tx, session, robot, {
          type: 'session.scheduled',
          at,
          actorId,
          notifyUserIds: concerned(session, actorId),
        })
        await auditOnBehalf(tx, session, at, actorId)
        return session
      }),

    /**
     * Starts a scheduled session, under the preconditions of any start. Without an actor its time has come.
     * @throws 409 when it is not PENDING, the robot is not AVAILABLE or the operator is busy.
     */
    startScheduled: (
      session: Pick<SessionRecord, 'id' | 'robot_id' | 'operator_id'>,
      actorId?: string,
    ): Promise<SessionRecord> =>
      asConflict(() =>
        transact(async (tx) => {
          const at = now()
          const robot = await claimRobot(tx, session.robot_id)
          await requireCertification(tx, robot, session.operator_id)
          const started = await move(tx, session.id, ['PENDING'], at, {
            status: 'ACTIVE',
            started_at: at,
            ...planTerms(sql.ref('sessions.client_id')),
          })
          if (!started) throw conflict('The session is not PENDING')
          await announce(tx, started, robot, {
            type: 'session.started',
            at,
            ...(actorId !== undefined && { actorId }),
            notifyUserIds: [started.client_id, started.operator_id], // both have planned with it
          })
          return started
        }),
      ),
  }
}
export type SessionStarts = ReturnType<typeof createSessionStarts>

/** The client always hears of a start; the operator when it was not their own act. */
function concerned(session: SessionRecord, actorId: string): string[] {
  return [session.client_id, ...(session.operator_id === actorId ? [] : [session.operator_id])]
}

/** Somebody else's robot and somebody else's time: an admin who decides over both leaves a trace. */
async function auditOnBehalf(tx: Tx, session: SessionRecord, at: Date, actorId: string): Promise<void> {
  if (session.operator_id === actorId) return
  await audit(tx, {
    at,
    actorId,
    action: session.status === 'PENDING' ? 'session.scheduled_on_behalf' : 'session.started_on_behalf',
    subject: ['session', session.id],
    data: { operator_id: session.operator_id, robot_id: session.robot_id },
  })
}

/** Takes the robot with one conditional update: of any number of callers exactly one gets it. */
async function claimRobot(tx: Tx, robotId: string): Promise<RobotRecord> {
  const robot = await tx.db
    .updateTable('robots')
    .set({ status: 'IN_SESSION' })
    .where('id', '=', robotId)
    .where('status', '=', 'AVAILABLE')
    .where('deleted_at', 'is', null)
    .returningAll()
    .executeTakeFirst()
  if (!robot) throw await whyNotAvailable(tx, robotId)
  await tellRobotStatus(tx, robot)
  return robot
}

async function availableRobot(tx: Tx, robotId: string): Promise<RobotRecord> {
  const known = await tx.db
    .selectFrom('robots')
    .select('id')
    .where('id', '=', robotId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (!known) throw notFound('Robot')
  const robot = await lockRobot(tx, robotId)
  if (robot.deleted_at !== null || robot.status !== 'AVAILABLE') throw await whyNotAvailable(tx, robotId)
  return robot
}

async function whyNotAvailable(tx: Tx, robotId: string): Promise<AppError> {
  const robot = await tx.db
    .selectFrom('robots')
    .select('status')
    .where('id', '=', robotId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return robot ? conflict(`The robot is not AVAILABLE (it is ${robot.status})`) : notFound('Robot')
}

/** Owners may ask for a certified operator; by default they do not. */
async function requireCertification(tx: Tx, robot: RobotRecord, operatorId: string): Promise<void> {
  if (!robot.require_certification) return
  const approved = await tx.db
    .selectFrom('certifications')
    .select('id')
    .where('operator_id', '=', operatorId)
    .where('robot_type', '=', robot.robot_type)
    .where('status', '=', 'APPROVED')
    .executeTakeFirst()
  if (!approved) throw forbidden(`This robot asks for an approved certification for ${robot.robot_type}`)
}

async function requireNoOpenSession(tx: Tx, operatorId: string): Promise<void> {
  const open = await tx.db
    .selectFrom('sessions')
    .select('id')
    .where('operator_id', '=', operatorId)
    .where('status', 'in', ['ACTIVE', 'PAUSED'])
    .executeTakeFirst()
  if (open) throw conflict('The operator already has an open session')
}

/** A session that runs from now on, with the price that its client's plan has now: one statement. */
async function insertActive(
  tx: Tx,
  robot: RobotRecord,
  operatorId: string,
  at: Date,
): Promise<SessionRecord> {
  return await tx.db
    .insertInto('sessions')
    .columns([
      ...(['id', 'robot_id', 'operator_id', 'client_id', 'status', 'event_seq'] as const),
      ...(['created_at', 'started_at', 'active_since'] as const),
      ...(['plan_id', 'client_rate_cents_per_minute', 'operator_share_percent'] as const),
    ])
    .expression(({ selectFrom, val, lit }) =>
      selectFrom('pricing_plans')
        .select([
          val(randomUUID()).as('id'),
          val(robot.id).as('robot_id'),
          val(operatorId).as('operator_id'),
          val(robot.owner_id).as('client_id'),
          val('ACTIVE').as('status'),
          lit(1).as('event_seq'),
          val(at).as('created_at'),
          val(at).as('started_at'),
          val(at).as('active_since'),
          ...(['id as plan_id', 'client_rate_cents_per_minute', 'operator_share_percent'] as const),
        ])
        .where('id', '=', planOf(robot.owner_id)),
    )
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** The unique indexes are the last guard; what they refuse is an ordinary conflict to the caller. */
async function asConflict<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    const constraint = uniqueViolation(cause)
    if (constraint === 'one_open_session_per_operator') {
      throw conflict('The operator already has an open session')
    }
    if (constraint === 'one_open_session_per_robot') throw conflict('The robot is already in a session')
    throw cause
  }
}
