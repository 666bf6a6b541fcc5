import { randomUUID } from 'node:crypto'
import type { OrganizationRole } from '@wheelhouse/protocol'
import { sql } from 'kysely'
import { type AuditEvent, audit } from '../../core/audit/audit.ts'
import type { CoreServices } from '../../core/core-services.ts'
import { iso } from '../../core/database/iso.ts'
import { containsAll } from '../../core/database/like-patterns.ts'
import {
  badRequest,
  conflict,
  forbidden,
  notFound,
  uniqueViolation,
  violatedCheck,
} from '../../core/errors/errors.ts'
import type { Tx } from '../../core/events/transactor.ts'
import { cursorValues, decodeCursor, encodeCursor, pageOf } from '../../core/http/cursor.ts'
import type { Caller } from '../../core/http/endpoint.ts'
import { wordsOf } from '../../core/http/search-words.ts'
import { can, credentialOf } from '../../core/permissions/authorization.ts'
import type {
  GroupView,
  ListMembers,
  MemberView,
  OrganizationView,
  UpdateMember,
  UpdateOrganization,
} from './organization.schema.ts'

/** Team organizations that a person owns, and organizations that a person is a member of. */
const MAX_OWNED = 20
const MAX_MEMBERSHIPS = 100
const MAX_GROUPS = 500
const MEMBER_SORT = 'created_at'

type Services = Pick<CoreServices, 'db' | 'transact' | 'now' | 'bus'>

/** Returns an audit event about an organization. */
export const organizationEvent = (
  caller: Pick<Caller, 'userId' | 'credential'>,
  at: Date,
  action: string,
  organizationId: string,
  data: Record<string, unknown> = {},
): AuditEvent => ({
  at,
  organizationId,
  actorId: caller.userId,
  credential: credentialOf(caller),
  action,
  subject: ['organization', organizationId],
  data,
})

/** Requires that the groups belong to an organization. @throws 400 */
export async function requireGroups(
  { db }: Pick<Tx, 'db'>,
  organizationId: string,
  groupIds: readonly string[] | null | undefined,
): Promise<void> {
  if (!groupIds || groupIds.length === 0) return
  const known = await db
    .selectFrom('organization_groups')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('id', 'in', [...groupIds])
    .execute()
  if (known.length < new Set(groupIds).size)
    throw badRequest('groupIds: must be ids of groups of this organization')
}

/** Requires that a caller may give or take a role: only owners make and change owners. @throws 403 */
export function requireMayGive(
  { organization }: Pick<Caller, 'organization'>,
  ...roles: OrganizationRole[]
): void {
  if (organization.role !== 'owner' && roles.includes('owner'))
    throw forbidden('permission_required', 'Only an owner of the organization can make or change owners.')
}

/** Requires that a user can get another membership. @throws 409 */
export async function requireMembershipCapacity(tx: Tx, userId: string): Promise<void> {
  // Locks the user, so that concurrent requests cannot exceed the limit.
  await tx.db.selectFrom('users').select('id').where('id', '=', userId).forNoKeyUpdate().execute()
  const { all, owned } = await tx.db
    .selectFrom('organization_members')
    .select([
      sql<number>`count(*)::int`.as('all'),
      sql<number>`count(*) filter (where role = 'owner')::int`.as('owned'),
    ])
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  if (all > MAX_MEMBERSHIPS || owned > MAX_OWNED)
    throw conflict(
      'organization_limit_reached',
      `A person can own ${MAX_OWNED} organizations and be a member of ${MAX_MEMBERSHIPS}. Leave one first.`,
    )
}

/** Creates the service of organizations, their members and groups. Routes check the permission before. */
export function createOrganizationService(deps: Services) {
  const { db, transact, now, bus } = deps

  const selectMine = (userId: string) =>
    db
      .selectFrom('organization_members as member')
      .innerJoin('organizations', 'organizations.id', 'member.organization_id')
      .select(['organizations.id', 'organizations.name', 'organizations.kind', 'organizations.created_at'])
      .select('organizations.robots_per_supervisor')
      .select(['member.role', 'member.group_ids'])
      .where('member.user_id', '=', userId)

  /** Publishes that a user has lost permissions, so that sockets end at once. */
  const lost = (userId: string) => bus.publish('permissions.lost', { userId, suspended: false })

  return {
    /** Returns the organizations that a caller may act for: all of a person, that of a key. The personal one is the first. */
    async list({ userId, organization, credential }: Caller): Promise<OrganizationView[]> {
      const rows = await selectMine(userId)
        .$if(credential.kind === 'api_key', (query) => query.where('organizations.id', '=', organization.id))
        .orderBy(sql`organizations.id = ${userId}`, 'desc')
        .orderBy(sql`lower(organizations.name)`)
        .orderBy('organizations.id')
        .limit(MAX_MEMBERSHIPS + 1)
        .execute()
      return rows.map(view)
    },

    async get({ userId }: Caller, id: string): Promise<OrganizationView> {
      const row = await selectMine(userId).where('organizations.id', '=', id).executeTakeFirst()
      if (!row) throw notFound('Organization')
      return view(row)
    },

    /** Creates a team, whose owner the caller is. */
    async create(caller: Caller, name: string): Promise<OrganizationView> {
      const id = randomUUID()
      const at = now()
      await transact(async (tx) => {
        await requireMembershipCapacity(tx, caller.userId)
        await tx.db.insertInto('organizations').values({ id, name, kind: 'team', created_at: at }).execute()
        await tx.db
          .insertInto('organization_members')
          .values({ organization_id: id, user_id: caller.userId, role: 'owner', created_at: at })
          .execute()
        await audit(tx, organizationEvent(caller, at, 'organization.created', id, { name }))
      })
      return await this.get(caller, id)
    },

    /** @throws 409 for a personal organization, which has the name of its person */
    async update(caller: Caller, id: string, change: UpdateOrganization): Promise<OrganizationView> {
      await transact(async (tx) => {
        const renamed = await tx.db
          .updateTable('organizations')
          .set({
            ...(change.name !== undefined && { name: change.name }),
            ...(change.robots_per_supervisor !== undefined && {
              robots_per_supervisor: change.robots_per_supervisor,
            }),
          })
          .where('id', '=', id)
          .$if(change.name !== undefined, (query) => query.where('kind', '=', 'team'))
          .executeTakeFirst()
        if (renamed.numUpdatedRows === 0n)
          throw conflict(
            'personal_organization',
            'Your personal organization has your name. Change it there.',
          )
        await audit(tx, organizationEvent(caller, now(), 'organization.changed', id, change))
      })
      return await this.get(caller, id)
    },

    /** Returns a page of members, in the order in which they came. Addresses are for those who manage members. */
    async members(caller: Caller, id: string, { search, limit, cursor }: ListMembers) {
      const after = cursor === undefined ? undefined : decodeCursor(cursor, MEMBER_SORT, cursorValues.time)
      const words = wordsOf(search)
      const showsAddresses = can(caller, 'members.manage')
      const rows = await db
        .selectFrom('organization_members as member')
        .innerJoin('users', 'users.id', 'member.user_id')
        .select(['member.user_id', 'users.display_name as name', 'users.email', 'member.role'])
        .select(['member.group_ids', 'member.created_at', 'users.service_of_id'])
        .where('member.organization_id', '=', id)
        .$if(words.length > 0, (query) =>
          query.where(
            containsAll(
              showsAddresses ? sql`concat_ws(' ', users.display_name, users.email)` : sql`users.display_name`,
              words,
            ),
          ),
        )
        .$if(after !== undefined, (query) =>
          query.where(
            sql<boolean>`(member.created_at, member.user_id) > (${after!.value}::timestamptz, ${after!.id}::uuid)`,
          ),
        )
        .orderBy('member.created_at')
        .orderBy('member.user_id')
        .limit(limit + 1)
        .execute()
      const { page, last } = pageOf(rows, limit)
      return {
        members: page.map(
          ({ service_of_id, email, created_at, ...row }): MemberView => ({
            ...row,
            email: showsAddresses ? email : null,
            is_program: service_of_id !== null,
            created_at: iso(created_at),
          }),
        ),
        next: last && encodeCursor(MEMBER_SORT, last.created_at, last.user_id),
      }
    },

    /**
     * Changes the role or the groups of a member. Sockets, downloads and video of the member end within a second; those that are
     * still allowed are opened again.
     * @throws 404 for a user who is no member, 403 for an owner unless the caller is one, 409 for the last owner
     */
    async changeMember(caller: Caller, id: string, userId: string, change: UpdateMember): Promise<void> {
      const { role, groupIds } = change
      await transact(async (tx) => {
        await requireGroups(tx, id, groupIds)
        const member = await lockMember(tx, id, userId)
        requireMayGive(caller, member.role, role ?? member.role)
        if (id === userId) throw ownPersonal()
        if ((role ?? member.role) === 'owner' && groupIds)
          throw badRequest('groupIds: an owner sees all robots. Set null, or another role.')
        await tx.db
          .updateTable('organization_members')
          .set({
            ...(role !== undefined && { role }),
            ...(groupIds !== undefined && { group_ids: groupIds && [...groupIds] }),
            ...(role === 'owner' && { group_ids: null }),
          })
          .where('organization_id', '=', id)
          .where('user_id', '=', userId)
          .execute()
          .catch(keepLastOwner)
        const data = { user_id: userId, before: member, role, group_ids: groupIds }
        await audit(tx, organizationEvent(caller, now(), 'member.changed', id, data))
      })
      lost(userId)
    },

    /**
     * Removes a member, or the caller, who leaves. Sockets, downloads and video end within a second on every node, keys for the
     * organization at once, and an open session that the member drives for it is halted.
     * @throws 404, 403 for an owner unless the caller is one, 409 for the last owner and in a personal organization for its person
     */
    async removeMember(caller: Caller, id: string, userId: string): Promise<void> {
      await transact(async (tx) => {
        const member = await lockMember(tx, id, userId)
        if (userId !== caller.userId) requireMayGive(caller, member.role)
        if (id === userId) throw ownPersonal()
        await tx.db
          .deleteFrom('organization_members')
          .where('organization_id', '=', id)
          .where('user_id', '=', userId)
          .execute()
          .catch(keepLastOwner)
        const action = userId === caller.userId ? 'member.left' : 'member.removed'
        await audit(tx, organizationEvent(caller, now(), action, id, { user_id: userId, role: member.role }))
      })
      lost(userId)
    },

    async groups(id: string): Promise<GroupView[]> {
      const rows = await db
        .selectFrom('organization_groups')
        .select(['id', 'name', 'created_at'])
        .select(
          sql<number>`coalesce((select robots from robot_counts where robot_counts.id = organization_groups.id), 0)`.as(
            'robots',
          ),
        )
        .where('organization_id', '=', id)
        .orderBy(sql`lower(name)`)
        .limit(MAX_GROUPS)
        .execute()
      return rows.map((row) => ({ ...row, created_at: iso(row.created_at) }))
    },

    /** @throws 409 when the name is taken, or the organization has as many groups as it may have */
    createGroup: (caller: Caller, id: string, name: string): Promise<GroupView> =>
      transact(async (tx) => {
        // Locks the organization, so that concurrent requests cannot exceed the limit.
        await tx.db.selectFrom('organizations').select('id').where('id', '=', id).forNoKeyUpdate().execute()
        const { count } = await tx.db
          .selectFrom('organization_groups')
          .select(sql<number>`count(*)::int`.as('count'))
          .where('organization_id', '=', id)
          .executeTakeFirstOrThrow()
        if (count >= MAX_GROUPS)
          throw conflict('organization_limit_reached', `An organization can have ${MAX_GROUPS} groups.`)
        const at = now()
        const group = await tx.db
          .insertInto('organization_groups')
          .values({ id: randomUUID(), organization_id: id, name, created_at: at })
          .returning(['id', 'name', 'created_at'])
          .executeTakeFirstOrThrow()
          .catch(nameTaken)
        await audit(tx, organizationEvent(caller, at, 'group.created', id, { group_id: group.id, name }))
        return { ...group, robots: 0, created_at: iso(group.created_at) }
      }),

    renameGroup: (caller: Caller, id: string, groupId: string, name: string): Promise<void> =>
      transact(async (tx) => {
        const renamed = await tx.db
          .updateTable('organization_groups')
          .set({ name })
          .where('id', '=', groupId)
          .where('organization_id', '=', id)
          .executeTakeFirst()
          .catch(nameTaken)
        if (renamed.numUpdatedRows === 0n) throw notFound('Group')
        await audit(tx, organizationEvent(caller, now(), 'group.renamed', id, { group_id: groupId, name }))
      }),

    /** Deletes a group. Its robots stay, without a group; members who were limited to it no longer see them. */
    removeGroup: (caller: Caller, id: string, groupId: string): Promise<void> =>
      transact(async (tx) => {
        const removed = await tx.db
          .deleteFrom('organization_groups')
          .where('id', '=', groupId)
          .where('organization_id', '=', id)
          .returning('name')
          .executeTakeFirst()
        if (!removed) throw notFound('Group')
        const data = { group_id: groupId, name: removed.name }
        await audit(tx, organizationEvent(caller, now(), 'group.removed', id, data))
      }),
  }
}
export type OrganizationService = ReturnType<typeof createOrganizationService>

/** Locks a member, so that a concurrent start of a session ends before. @throws 404 */
async function lockMember(tx: Tx, organizationId: string, userId: string) {
  const member = await tx.db
    .selectFrom('organization_members')
    .select(['role', 'group_ids'])
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    .forUpdate()
    .executeTakeFirst()
  if (!member) throw notFound('Member')
  return member
}

const ownPersonal = () =>
  conflict('personal_organization', 'A person always owns the own personal organization.')

function keepLastOwner(cause: unknown): never {
  if (violatedCheck(cause) !== 'organization_last_owner') throw cause
  throw conflict('last_owner', 'The organization needs an owner. Make another member an owner first.')
}

function nameTaken(cause: unknown): never {
  if (uniqueViolation(cause) !== 'one_group_per_name') throw cause
  throw conflict('group_name_taken', 'name: another group of the organization has this name.')
}

const view = (row: {
  id: string
  name: string
  kind: 'personal' | 'team'
  role: OrganizationRole
  group_ids: string[] | null
  robots_per_supervisor: number
  created_at: Date
}): OrganizationView => ({ ...row, created_at: iso(row.created_at) })
