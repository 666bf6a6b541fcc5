import { sql } from 'kysely'
import { iso } from '../../core/database/iso.ts'
import type { Db } from '../../core/database/tables.ts'
import { notFound } from '../../core/errors/errors.ts'
import type { UserDetail } from './user-detail.schema.ts'
import { type RoleSource, type UserRecord, userColumns, userView } from './user-list.service.ts'

const CERTIFICATIONS_MAX = 100
const ROBOTS_MAX = 20

type Row = UserRecord & {
  readonly removed_roles: string[]
  readonly suspension_reason: string | null
  readonly api_keys: number
  readonly robot_count: number
}

/** Returns what admins see of one user. @throws 404 if the user does not exist. */
export async function readUser(db: Db, roles: RoleSource, id: string): Promise<UserDetail> {
  const [row, certifications, openSession, robots] = await Promise.all([
    readRow(db, id),
    readCertifications(db, id),
    readOpenSession(db, id),
    readRobots(db, id),
  ])
  if (!row) throw notFound('User')
  return {
    ...userView(row, roles),
    email_verified: row.email_verified,
    removed_roles: row.removed_roles,
    suspension:
      row.suspended_at === null || row.suspension_reason === null
        ? null
        : { at: iso(row.suspended_at), reason: row.suspension_reason },
    api_keys: row.api_keys,
    certifications,
    open_session: openSession ?? null,
    robots,
    robot_count: row.robot_count,
  }
}

async function readRow(db: Db, id: string): Promise<Row | undefined> {
  const { rows } = await sql<Row>`
    select ${userColumns}, users.removed_roles, users.suspension_reason,
      (select count(*) from api_keys where user_id = users.id and revoked_at is null
        and (expires_at is null or expires_at > now()))::int as api_keys,
      (select count(*) from robots where owner_id = users.id and deleted_at is null)::int as robot_count
    from users left join user_presence on user_presence.user_id = users.id
    where users.id = ${id}`.execute(db)
  return rows[0]
}

async function readCertifications(db: Db, id: string): Promise<UserDetail['certifications']> {
  const rows = await db
    .selectFrom('certifications')
    .select(['id', 'robot_type', 'status', 'note', 'reason', 'requested_at', 'decided_at'])
    .where('operator_id', '=', id)
    .orderBy('requested_at', 'desc')
    .limit(CERTIFICATIONS_MAX)
    .execute()
  return rows.map((row) => ({
    ...row,
    requested_at: iso(row.requested_at),
    decided_at: iso(row.decided_at),
  }))
}

const readOpenSession = (db: Db, id: string) =>
  db
    .selectFrom('sessions')
    .innerJoin('robots', 'robots.id', 'sessions.robot_id')
    .select(['sessions.id', 'sessions.status', 'sessions.robot_id', 'robots.name as robot_name'])
    .where('sessions.operator_id', '=', id)
    .where('sessions.status', 'in', ['ACTIVE', 'PAUSED'])
    .executeTakeFirst()

const readRobots = (db: Db, id: string) =>
  db
    .selectFrom('robots')
    .select(['id', 'name', 'status'])
    .where('owner_id', '=', id)
    .where('deleted_at', 'is', null)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(ROBOTS_MAX)
    .execute()
