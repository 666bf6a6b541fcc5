import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { audit } from '../admin/audit.ts'
import { planOf, planTerms } from '../billing/plan.terms.ts'
import { columnsOf } from '../db/columns.ts'
import { compiled } from '../db/compiled.ts'
import type { Transact, Tx } from '../events/transactor.ts'
import { badRequest, conflict, uniqueViolation } from '../http/errors.ts'
import { announce, move, type RobotRecord, type SessionRecord, tell } from './session.changes.ts'
import {
  availableRobot,
  claimRobot,
  requireCertification,
  requireNoOpenSession,
  requireOperator,
} from './session.preconditions.ts'

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
          const robot = await claimRobot(tx, robotId)
          // Not before the robot is ours: the session that had it must have ended by then, on the clock too.
          const at = now()
          await requireCertification(tx, robot, operatorId)
          await requireOperator(tx, operatorId)
          const session = await startedSession(tx, robot, operatorId, at)
          await tell(tx, session, robot.name, {
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
        await requireOperator(tx, operatorId)
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
          const robot = await claimRobot(tx, session.robot_id)
          const at = now()
          await requireCertification(tx, robot, session.operator_id)
          await requireOperator(tx, session.operator_id)
          const started = await move(tx, session.id, ['PENDING'], at, {
            status: 'ACTIVE',
            started_at: at,
            ...planTerms(sql.ref('sessions.client_id')),
          })
          if (!started) throw conflict('The session is not PENDING')
          await tell(tx, started, robot.name, {
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

interface NewActive {
  readonly id: string
  readonly robotId: string
  readonly operatorId: string
  readonly clientId: string
  readonly at: Date
}

/** A session that runs from now on, with the price that its client's plan has now. */
const insertActive = compiled<NewActive>()((db, place) => {
  const uuid = (name: 'id' | 'robotId' | 'operatorId' | 'clientId') => sql<string>`${place(name)}::uuid`
  const at = sql<Date>`${place('at')}::timestamptz`
  return db
    .insertInto('sessions')
    .columns([
      ...(['id', 'robot_id', 'operator_id', 'client_id', 'status', 'event_seq'] as const),
      ...(['created_at', 'started_at', 'active_since'] as const),
      ...(['plan_id', 'client_rate_cents_per_minute', 'operator_share_percent'] as const),
    ])
    .expression(({ selectFrom, lit }) =>
      selectFrom('pricing_plans')
        .select([
          uuid('id').as('id'),
          uuid('robotId').as('robot_id'),
          uuid('operatorId').as('operator_id'),
          uuid('clientId').as('client_id'),
          sql<'ACTIVE'>`'ACTIVE'`.as('status'),
          lit(1).as('event_seq'),
          at.as('created_at'),
          at.as('started_at'),
          at.as('active_since'),
          ...(['id as plan_id', 'client_rate_cents_per_minute', 'operator_share_percent'] as const),
        ])
        .where('id', '=', planOf(uuid('clientId'))),
    )
    .returning(columnsOf('sessions'))
})

async function startedSession(
  tx: Tx,
  robot: RobotRecord,
  operatorId: string,
  at: Date,
): Promise<SessionRecord> {
  const people = { robotId: robot.id, operatorId, clientId: robot.owner_id }
  const [session] = await insertActive(tx.db, { id: randomUUID(), ...people, at })
  if (!session) throw new Error('there is no pricing plan to start with')
  return session
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
