import type { Role } from '@wheelhouse/protocol'
import { type RawBuilder, sql } from 'kysely'
import { iso } from '../../core/database/iso.ts'
import type { Db } from '../../core/database/tables.ts'
import { type Users, userMatches } from '../identity/index.ts'
import { type KeysetPage, keyset, toPage } from './keyset.ts'
import type { ListUsers, UserEntry } from './user-list.schema.ts'

/** The functions and settings that decide the roles of users. */
export type RoleSource = Pick<Users, 'assignedRoles' | 'adminEmails'>

export interface UserRecord {
  readonly id: string
  readonly display_name: string
  readonly email: string | null
  readonly email_verified: boolean
  readonly is_client: boolean
  readonly is_operator: boolean
  readonly suspended_at: Date | null
  readonly last_seen_at: Date | null
  readonly created_at: Date
  readonly service_of_id: string | null
}

/** The columns of a user that admins see. The query joins `user_presence`. */
export const userColumns = sql`users.id, users.display_name, users.email, users.email_verified, users.is_client,
  users.is_operator, users.suspended_at, users.created_at, users.service_of_id, user_presence.seen_at as last_seen_at`

/** Lists users, newest first. */
export async function listUsers(db: Db, roles: RoleSource, query: ListUsers): Promise<KeysetPage<UserEntry>> {
  const { search = '', role, suspended, limit, cursor } = query
  const { follows, end } = keyset('users', { cursor, limit })
  const filters = [follows, userMatches(search)]
  if (role !== undefined) filters.push(hasRole(role, roles.adminEmails))
  if (suspended === 'true') filters.push(sql<boolean>`users.suspended_at is not null`)
  if (suspended === 'false') filters.push(sql<boolean>`users.suspended_at is null`)
  const { rows } = await sql<UserRecord>`
    select ${userColumns} from users left join user_presence on user_presence.user_id = users.id
    where ${sql.join(filters, sql` and `)} ${end}`.execute(db)
  const { rows: page, next } = toPage(rows, limit)
  return { rows: page.map((row) => userView(row, roles)), next }
}

/** Returns a user as admins see the user. */
export const userView = (row: UserRecord, { assignedRoles }: RoleSource): UserEntry => ({
  id: row.id,
  display_name: row.display_name,
  email: row.email,
  roles: assignedRoles(row),
  suspended_at: iso(row.suspended_at),
  last_seen_at: iso(row.last_seen_at),
  created_at: iso(row.created_at),
  ...(row.service_of_id !== null && { service_of: row.service_of_id }),
})

/** Returns the condition that a user has a role. The collation lowers only A to Z, as the comparison of addresses does. */
function hasRole(role: Role, adminEmails: readonly string[]): RawBuilder<boolean> {
  if (role === 'client') return sql<boolean>`users.is_client`
  if (role === 'operator') return sql<boolean>`users.is_operator`
  return sql<boolean>`(users.email_verified and lower(users.email collate "C") = any(${adminEmails}::text[]))`
}
