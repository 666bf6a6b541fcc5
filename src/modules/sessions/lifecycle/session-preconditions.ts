import { permissions, type RobotStatus } from '@wheelhouse/protocol'
import { type QueryCreator, type RawBuilder, sql } from 'kysely'
import { columnsOf } from '../../../core/database/columns.ts'
import { compiled } from '../../../core/database/compiled.ts'
import type { Tables } from '../../../core/database/tables.ts'
import { type AppError, conflict, forbidden, notFound } from '../../../core/errors/errors.ts'
import type { Tx } from '../../../core/events/transactor.ts'
import { linkChanged, ownedByClient, Robot } from '../../robots/index.ts'
import { emitRobotStatus, lastHeartbeat, lockRobot, type RobotRecord } from '../record/session-transitions.ts'

// The preconditions of a start: an AVAILABLE robot, an operator without an open session, a required certification.

/** Claims the robot with one conditional update that also marks it as changed for its gateway. */
const claim = compiled<{ robotId: string }>()((db, param) =>
  db
    .updateTable('robots')
    .set({ status: 'IN_SESSION', ...linkChanged })
    .where('id', '=', param('robotId'))
    .where('status', '=', 'AVAILABLE')
    .where('deleted_at', 'is', null)
    .where('on_hold', '=', false)
    .where(ownedByClient)
    .returning(columnsOf(Robot))
    .returning(lastHeartbeat),
)

/** Claims an AVAILABLE robot for a session. Exactly one of several concurrent callers succeeds. */
export async function claimRobot(tx: Tx, robotId: string): Promise<RobotRecord> {
  const [robot] = await claim(tx.db, { robotId })
  if (!robot) throw await notAvailableError(tx, robotId)
  emitRobotStatus(tx, robot)
  return robot
}

export async function requireAvailableRobot(tx: Tx, robotId: string): Promise<RobotRecord> {
  const known = await tx.db
    .selectFrom('robots')
    .select('id')
    .where('id', '=', robotId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (!known) throw notFound('Robot')
  const robot = await lockRobot(tx, robotId)
  if (robot.deleted_at !== null || robot.status !== 'AVAILABLE' || robot.on_hold)
    throw await notAvailableError(tx, robotId)
  const owned = await tx.db
    .selectFrom('robots')
    .select('id')
    .where('id', '=', robotId)
    .where(ownedByClient)
    .executeTakeFirst()
  if (!owned) throw outOfServiceError()
  return robot
}

const outOfServiceError = () =>
  conflict(
    'robot_out_of_service',
    'The robot is out of service: its owner no longer has the client role. Choose another robot.',
  )

async function notAvailableError(tx: Tx, robotId: string): Promise<AppError> {
  const robot = await tx.db
    .selectFrom('robots')
    .select(['status', 'on_hold'])
    .where('id', '=', robotId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (robot?.on_hold)
    return conflict('robot_on_hold', 'The robot is on hold. Try again after its owner has released it.')
  if (robot?.status === 'AVAILABLE') return outOfServiceError()
  return robot ? statusConflict(robot.status) : notFound('Robot')
}

const statusConflict = (status: RobotStatus): AppError =>
  status === 'OFFLINE'
    ? conflict('robot_offline', 'The robot is not available: it is offline. Try again when it is connected.')
    : conflict(
        'robot_in_session',
        'The robot is not available: it is in another session. Try again when it is free.',
      )

/** The operator of a session that starts. */
export interface SessionOperator {
  readonly id: string
  /** The organization that the operator acts for; missing if an admin starts the session. */
  readonly organizationId?: string
  /** The scheduled session that starts, which says whether its operator drives as a member. */
  readonly scheduledSessionId?: string
}

/** Reads whether a user who is a member of a robot's organization may drive it, and whether a scheduled session is meant so. */
const findMembership = compiled<{ robotId: string; userId: string; sessionId: string | null }>()(
  (db, param) =>
    db
      .selectFrom('robots')
      .innerJoin('organization_members as member', (join) =>
        join
          .onRef('member.organization_id', '=', 'robots.owner_id')
          .on('member.user_id', '=', param('userId')),
      )
      .select(
        sql<boolean>`(member.role = any(${[...permissions['sessions.drive'].roles]}::text[])
          and (member.group_ids is null or coalesce(robots.group_id = any(member.group_ids), false)))`.as(
          'drives',
        ),
      )
      .select((eb) =>
        eb
          .selectFrom('sessions')
          .select('own_operator')
          .where('sessions.id', '=', sql<string>`${param('sessionId')}::uuid`)
          .as('scheduled_as_own'),
      )
      .where('robots.id', '=', param('robotId'))
      .forKeyShare('member'), // a removal of the member waits for the start, and then ends the session
)

/**
 * Returns whether an operator drives a robot as a member of its organization, which costs nothing. A person who drives the own robot is
 * an operator of the marketplace as any other, unless the robot is for own operators only.
 * @throws 404 if the robot is not for operators of the marketplace; 403 for a member who acts for another organization, because the
 *   organization would pay for its own operator
 */
export async function isOwnOperator(tx: Tx, robot: RobotRecord, operator: SessionOperator): Promise<boolean> {
  const { id: userId, organizationId, scheduledSessionId: sessionId = null } = operator
  const [member] = await findMembership(tx.db, { robotId: robot.id, userId, sessionId })
  const isPerson = robot.owner_id === userId
  const asMember = sessionId !== null ? member?.scheduled_as_own === true : organizationId === robot.owner_id
  if (member?.drives && (isPerson ? robot.operators === 'own' : asMember)) {
    if (robot.operators === 'marketplace')
      throw forbidden(
        'marketplace_operators_only',
        'The robot is set to be driven by operators of the marketplace. Change the setting "operators" first.',
      )
    return true
  }
  if (sessionId !== null) {
    if (await isScheduledAsOwn(tx, sessionId))
      throw forbidden(
        'permission_required',
        'The operator may no longer drive the robot for its organization. Cancel the session.',
      )
  } else if (organizationId !== undefined && organizationId !== userId) {
    // Who acts for a team drives its robots only.
    if (!member || !asMember) throw notFound('Robot')
    throw forbidden(
      'permission_required',
      'Your role or your groups in the organization do not include this robot.',
    )
  } else if (member && !isPerson && robot.operators !== 'marketplace')
    throw forbidden(
      'organization_required',
      'You are a member of the organization that owns the robot. Act for it: send its id in Wheelhouse-Organization.',
    )
  if (robot.operators === 'own') throw notFound('Robot')
  return false
}

/** Returns whether a scheduled session was meant to be driven by a member, at no charge. */
async function isScheduledAsOwn(tx: Tx, sessionId: string): Promise<boolean> {
  const session = await tx.db
    .selectFrom('sessions')
    .select('own_operator')
    .where('id', '=', sessionId)
    .executeTakeFirst()
  return session?.own_operator ?? false
}

/** Requires an approved certification of the operator if the robot's owner demands one. */
export async function requireCertification(tx: Tx, robot: RobotRecord, operatorId: string): Promise<void> {
  if (!robot.require_certification) return
  const approved = await tx.db
    .selectFrom('certifications')
    .select('id')
    .where('operator_id', '=', operatorId)
    .where('robot_type', '=', robot.robot_type)
    .where('status', '=', 'APPROVED')
    .forShare() // a concurrent revocation waits, an earlier one is visible
    .executeTakeFirst()
  if (!approved)
    throw forbidden(
      'certification_required',
      `The robot requires an approved certification for ${robot.robot_type}. Request it first.`,
    )
}

/**
 * Requires the operator role. The lock makes a concurrent removal of the role wait for this start, so that the removal
 * sees the new session.
 */
export async function requireOperator(tx: Tx, operatorId: string, isOwn: boolean): Promise<void> {
  const [operator] = await lockOperator(tx.db, { operatorId, isOwn })
  if (!operator)
    throw forbidden('role_required', 'The operator no longer has the operator role. Choose another operator.')
}

/**
 * Selects the operator if it has the role, or drives as a member, and is not suspended, and locks it as `requireOperator` says.
 */
export const lockedOperator = (
  query: Pick<QueryCreator<Tables>, 'selectFrom'>,
  operatorId: RawBuilder<string>,
  isOwn: RawBuilder<boolean>,
) =>
  query
    .selectFrom('users')
    .select('id')
    .where('id', '=', operatorId)
    .where(sql<boolean>`(is_operator or ${isOwn}::boolean)`)
    .where('suspended_at', 'is', null)
    .forKeyShare()

const lockOperator = compiled<{ operatorId: string; isOwn: boolean }>()((db, param) =>
  lockedOperator(db, param('operatorId'), param('isOwn')),
)

export async function requireNoOpenSession(tx: Tx, operatorId: string): Promise<void> {
  const open = await tx.db
    .selectFrom('sessions')
    .select('id')
    .where('operator_id', '=', operatorId)
    .where('status', 'in', ['ACTIVE', 'PAUSED'])
    .executeTakeFirst()
  if (open) throw conflict('operator_busy', 'The operator already has an open session. End it first.')
}
