import { type ControlHolder, type ControlKind, type OrganizationRole, roleMay } from '@wheelhouse/protocol'
import { sql } from 'kysely'
import type { Db } from '../../../core/database/tables.ts'
import type { Candidate } from './lease-rules.ts'

/** What decides who may control the robot of a session. */
export interface LeasedSession {
  readonly id: string
  readonly robot_id: string
  readonly client_id: string
  readonly operator_id: string
  readonly own_operator: boolean
}

/** A user who may hold control, with the name to show. */
export interface NamedCandidate extends Candidate {
  readonly name: string
  /** Whether as a member of the robot's organization, which costs nothing. */
  readonly asMember: boolean
}

interface CandidateRow {
  readonly id: string
  readonly name: string
  readonly is_program: boolean
  readonly is_operator: boolean
  /** The role of a member whose groups include the robot. */
  readonly role: OrganizationRole | null
  readonly is_guest: boolean
  readonly operators: 'own' | 'marketplace' | 'both'
}

/**
 * Returns in what part a user may control a robot; null for nobody who may. Members by their role; the operator of the session, and
 * those operators of the marketplace to whom control was offered.
 */
function kindOf(row: CandidateRow, session: LeasedSession): ControlKind | null {
  const { role } = row
  if (role !== null && roleMay(role, 'sessions.drive')) {
    if (!row.is_program && role === 'owner') return 'owner'
    if (!row.is_program && roleMay(role, 'sessions.take_over')) return 'supervisor'
    if (row.operators !== 'marketplace') return row.is_program ? 'policy' : 'operator'
  }
  const isOperator = row.id === session.operator_id && !session.own_operator
  return row.is_operator && (isOperator || row.is_guest) ? 'operator' : null
}

/** Returns those of the users who may control the robot of a session now, by their ids. */
export async function candidatesOf(
  db: Db,
  session: LeasedSession,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, NamedCandidate>> {
  const { rows } = await sql<CandidateRow>`
    select users.id, users.display_name as name, users.service_of_id is not null as is_program, users.is_operator,
      member.role, coalesce(not participant.as_member, false) as is_guest, robots.operators
    from users
      join robots on robots.id = ${session.robot_id}
      left join organization_members as member on member.organization_id = ${session.client_id}
        and member.user_id = users.id and (member.group_ids is null or robots.group_id = any(member.group_ids))
      left join control_participants as participant
        on participant.session_id = ${session.id} and participant.user_id = users.id
    where users.id = any(${[...new Set(userIds)]}::uuid[]) and users.suspended_at is null`.execute(db)
  return new Map(
    rows.flatMap((row) => {
      const kind = kindOf(row, session)
      if (kind === null) return []
      const asMember = row.role !== null && roleMay(row.role, 'sessions.drive')
      return [[row.id, { userId: row.id, kind, name: row.name, asMember }] as const]
    }),
  )
}

/**
 * Returns an operator of the marketplace to whom control of a robot can be offered; undefined for any other user. It needs what the start
 * of a session needs: the role, the certification, and no session of the own.
 */
export async function findGuest(
  db: Db,
  session: LeasedSession,
  userId: string,
): Promise<NamedCandidate | undefined> {
  const { rows } = await sql<{ name: string }>`
    select users.display_name as name
    from users join robots on robots.id = ${session.robot_id}
    where users.id = ${userId} and users.is_operator and users.suspended_at is null and robots.operators <> 'own'
      and (not robots.require_certification or exists (
        select from certifications
        where operator_id = users.id and robot_type = robots.robot_type and status = 'APPROVED'))
      and not exists (
        select from sessions where operator_id = users.id and status in ('ACTIVE', 'PAUSED'))
      and not exists (
        select from control_intervals as held
        where held.user_id = users.id and held.ended_at is null and held.session_id <> ${session.id})`.execute(
    db,
  )
  const [row] = rows
  return row && { userId, kind: 'operator', name: row.name, asMember: false }
}

/** What the log says of a holder: no name. */
export const loggedHolder = (holder: ControlHolder | null) =>
  holder && { participant_id: holder.participant_id, kind: holder.kind, user_id: holder.user_id }
