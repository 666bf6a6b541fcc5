import { randomUUID } from 'node:crypto'
import { type Expression, type SqlBool, sql } from 'kysely'
import { audit } from '../../core/audit/audit.ts'
import type { Db } from '../../core/database/tables.ts'
import { forbidden, notFound, uniqueViolation } from '../../core/errors/errors.ts'
import type { Bus } from '../../core/events/bus.ts'
import type { Transact, Tx } from '../../core/events/transactor.ts'
import { asLastOwner, endMembers, linkUsers, provisionedAs, syncMembers } from './membership-sync.ts'
import { groupCondition, userCondition } from './scim-filter.ts'
import {
  type FilterExpression,
  type ScimGroupInput,
  type ScimGroupRow,
  type ScimUserInput,
  type ScimUserRow,
  scimError,
} from './scim-messages.ts'

/** Users that an identity provider may provision in an organization. */
export const MAX_SCIM_USERS = 20_000
/** Groups that an identity provider may provision in an organization. */
const MAX_SCIM_GROUPS = 2_000
/** Members of a provisioned group. */
const MAX_SCIM_GROUP_MEMBERS = 10_000

/** Who provisions: a token of an organization. */
export interface Provisioner {
  readonly organizationId: string
  readonly tokenId: string
}

export interface Page {
  readonly filter: FilterExpression | undefined
  /** From 1. */
  readonly startIndex: number
  readonly count: number
}

/** Creates, changes and removes what an identity provider provisions, and the memberships that follow from it. */
export function createScim(deps: { db: Db; transact: Transact; bus: Bus; now: () => Date }) {
  const { db, transact, bus, now } = deps

  /** Runs a change, and ends what the users whose membership changed may no longer have, as soon as it is committed. */
  async function change<T>(
    work: (tx: Tx, changed: (userIds: readonly string[]) => void) => Promise<T>,
  ): Promise<T> {
    const affected = new Set<string>()
    const result = await transact((tx) => {
      affected.clear() // of an attempt before
      return work(tx, (userIds) => {
        for (const id of userIds) affected.add(id)
      })
    }).catch((cause) => {
      throw asScimError(cause)
    })
    for (const userId of affected) bus.publish('permissions.lost', { userId, suspended: false })
    return result
  }

  const note = (tx: Tx, { organizationId, tokenId }: Provisioner, action: string, id: string) =>
    audit(tx, {
      at: now(),
      organizationId,
      actorId: undefined,
      action,
      subject: [action.split('.')[0] ?? '', id],
      data: { organization_id: organizationId, scim_token_id: tokenId },
    })

  const userQuery = (from: Db, organizationId: string) =>
    from
      .selectFrom('scim_users')
      .select(['id', 'external_id', 'user_name', 'active', 'attributes', 'created_at', 'updated_at'])
      .where('organization_id', '=', organizationId)

  const groupQuery = (from: Db, organizationId: string) =>
    from
      .selectFrom('scim_groups')
      .select(['id', 'external_id', 'display_name', 'created_at', 'updated_at'])
      .where('organization_id', '=', organizationId)

  /** Returns the groups of users, by the id of the user. */
  async function groupsOf(ids: readonly string[], from: Db) {
    const rows = await from
      .selectFrom('scim_group_members as member')
      .innerJoin('scim_groups', 'scim_groups.id', 'member.group_id')
      .select(['member.user_id', 'scim_groups.id', 'scim_groups.display_name'])
      .where('member.user_id', '=', sql<string>`any(${[...ids]}::uuid[])`)
      .orderBy('scim_groups.created_at')
      .execute()
    return Map.groupBy(rows, ({ user_id }) => user_id)
  }

  async function withGroups(rows: readonly UserRow[], from: Db = db): Promise<ScimUserRow[]> {
    const groups = await groupsOf(
      rows.map(({ id }) => id),
      from,
    )
    return rows.map((row) => ({
      id: row.id,
      userName: row.user_name,
      externalId: row.external_id,
      active: row.active,
      attributes: row.attributes,
      createdAt: row.created_at,
      updatedAt: row.updated_at,
      groups: (groups.get(row.id) ?? []).map(({ id, display_name }) => ({ id, displayName: display_name })),
    }))
  }

  async function withMembers(
    rows: readonly GroupRow[],
    include: boolean,
    from: Db = db,
  ): Promise<ScimGroupRow[]> {
    const members = include
      ? await from
          .selectFrom('scim_group_members as member')
          .innerJoin('scim_users', 'scim_users.id', 'member.user_id')
          .select(['member.group_id', 'scim_users.id', 'scim_users.user_name'])
          .where('member.group_id', '=', sql<string>`any(${rows.map(({ id }) => id)}::uuid[])`)
          .orderBy('scim_users.created_at')
          .orderBy('scim_users.id')
          .execute()
      : []
    const byGroup = Map.groupBy(members, ({ group_id }) => group_id)
    return rows.map((row) => ({
      id: row.id,
      displayName: row.display_name,
      externalId: row.external_id,
      createdAt: row.created_at,
      updatedAt: row.updated_at,
      members: (byGroup.get(row.id) ?? []).map(({ id, user_name }) => ({ id, display: user_name })),
    }))
  }

  async function user(organizationId: string, id: string, from: Db = db, lock = false): Promise<ScimUserRow> {
    const query = userQuery(from, organizationId).where('id', '=', id)
    const found = await (lock ? query.forUpdate() : query).executeTakeFirst()
    if (!found) throw notFound('User')
    const [row] = await withGroups([found], from)
    return row as ScimUserRow
  }

  async function group(
    organizationId: string,
    id: string,
    options: { members: boolean; lock?: boolean },
    from: Db = db,
  ): Promise<ScimGroupRow> {
    const query = groupQuery(from, organizationId).where('id', '=', id)
    const found = await (options.lock ? query.forUpdate() : query).executeTakeFirst()
    if (!found) throw notFound('Group')
    const [row] = await withMembers([found], options.members, from)
    return row as ScimGroupRow
  }

  /** Locks the organization, so that concurrent requests cannot exceed a limit. @throws 403 */
  async function requireRoom(
    tx: Tx,
    organizationId: string,
    table: 'scim_users' | 'scim_groups',
    max: number,
  ) {
    await tx.db
      .selectFrom('organizations')
      .select('id')
      .where('id', '=', organizationId)
      .forNoKeyUpdate()
      .execute()
    const { count } = await tx.db
      .selectFrom(table)
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('organization_id', '=', organizationId)
      .executeTakeFirstOrThrow()
    if (Number(count) >= max)
      throw forbidden('organization_limit_reached', `An organization can have at most ${max} of these.`)
  }

  /** Writes a user, and makes or ends the membership. */
  async function saveUser(
    tx: Tx,
    by: Provisioner,
    before: ScimUserRow,
    input: ScimUserInput,
  ): Promise<string[]> {
    const { organizationId } = by
    const { id } = before
    await tx.db
      .updateTable('scim_users')
      .set({
        user_name: input.userName,
        external_id: input.externalId,
        active: input.active,
        attributes: JSON.stringify(input.attributes) as never,
        claimed_groups: null, // from now on SCIM says what the role is
        updated_at: now(),
      })
      .where('id', '=', id)
      .where('organization_id', '=', organizationId)
      .execute()
    // A person can have become a member since the last request, such as with an invitation.
    await linkUsers(tx.db, organizationId, [id])
    if (!input.active) {
      if (before.active) await note(tx, by, 'scim_user.deactivated', id)
      return await endMembers(tx.db, organizationId, [id])
    }
    if (!before.active) await note(tx, by, 'scim_user.activated', id)
    return await syncMembers(tx.db, organizationId, [id], { join: !before.active })
  }

  /** Replaces the members of a group, and returns the users whose membership of the organization changed. */
  async function saveMembers(
    tx: Tx,
    organizationId: string,
    id: string,
    wanted: readonly string[],
    before: readonly string[],
  ): Promise<string[]> {
    if (wanted.length > MAX_SCIM_GROUP_MEMBERS)
      throw scimError(400, 'invalidValue', `A group can have at most ${MAX_SCIM_GROUP_MEMBERS} members.`)
    const [had, has] = [new Set(before), new Set(wanted)]
    const added = wanted.filter((userId) => !had.has(userId))
    const removed = before.filter((userId) => !has.has(userId))
    if (removed.length > 0)
      await tx.db
        .deleteFrom('scim_group_members')
        .where('group_id', '=', id)
        .where('user_id', '=', sql<string>`any(${removed}::uuid[])`)
        .execute()
    if (added.length > 0) {
      const inserted = await tx.db
        .insertInto('scim_group_members')
        .columns(['group_id', 'user_id'])
        .expression((eb) =>
          eb
            .selectFrom('scim_users')
            .select([sql<string>`${id}::uuid`.as('group_id'), 'id as user_id'])
            .where('organization_id', '=', organizationId)
            .where('id', '=', sql<string>`any(${added}::uuid[])`),
        )
        .returning('user_id')
        .execute()
      if (inserted.length < added.length)
        throw scimError(400, 'invalidValue', 'A member is not the id of a user of this organization.')
    }
    return await syncMembers(tx.db, organizationId, [...added, ...removed], { join: false })
  }

  return {
    /** Makes a user a member where the verified address is provisioned. Called after a sign-in. */
    async joinProvisioned(userId: string): Promise<void> {
      const waiting = await provisionedAs(db, userId)
      for (const { id, organization_id } of waiting)
        await change(async (tx, changed) => {
          await linkUsers(tx.db, organization_id, [id])
          changed(await syncMembers(tx.db, organization_id, [id], { join: true }))
        })
    },

    user: (organizationId: string, id: string) => user(organizationId, id),

    group: (organizationId: string, id: string, members: boolean) => group(organizationId, id, { members }),

    /** Returns a page of users, oldest first, and how many match the filter. */
    async users(organizationId: string, { filter, startIndex, count }: Page) {
      const condition = userCondition(filter)
      const rows = await userQuery(db, organizationId)
        .where(condition)
        .orderBy('created_at')
        .orderBy('id')
        .limit(count)
        .offset(startIndex - 1)
        .execute()
      return { rows: await withGroups(rows), total: await countOf('scim_users', organizationId, condition) }
    },

    /** Returns a page of groups, oldest first, and how many match the filter. */
    async groups(organizationId: string, { filter, startIndex, count }: Page, members: boolean) {
      const condition = groupCondition(filter)
      const rows = await groupQuery(db, organizationId)
        .where(condition)
        .orderBy('created_at')
        .orderBy('id')
        .limit(count)
        .offset(startIndex - 1)
        .execute()
      return {
        rows: await withMembers(rows, members),
        total: await countOf('scim_groups', organizationId, condition),
      }
    },

    /** Creates a user. @throws 409 if the name is taken */
    createUser: (by: Provisioner, input: ScimUserInput): Promise<ScimUserRow> =>
      change(async (tx, changed) => {
        const { organizationId } = by
        await requireRoom(tx, organizationId, 'scim_users', MAX_SCIM_USERS)
        const id = randomUUID()
        const at = now()
        await tx.db
          .insertInto('scim_users')
          .values({
            id,
            organization_id: organizationId,
            user_name: input.userName,
            external_id: input.externalId,
            active: input.active,
            attributes: JSON.stringify(input.attributes) as never,
            created_at: at,
            updated_at: at,
          })
          .execute()
        await note(tx, by, 'scim_user.created', id)
        if (input.active) {
          await linkUsers(tx.db, organizationId, [id])
          changed(await syncMembers(tx.db, organizationId, [id], { join: true }))
        }
        return await user(organizationId, id, tx.db)
      }),

    /** Replaces a user with what `next` makes of the current one. @throws 404, 409 */
    updateUser: (
      by: Provisioner,
      id: string,
      next: (current: ScimUserRow) => ScimUserInput | Promise<ScimUserInput>,
    ): Promise<ScimUserRow> =>
      change(async (tx, changed) => {
        const current = await user(by.organizationId, id, tx.db, true)
        changed(await saveUser(tx, by, current, await next(current)))
        return await user(by.organizationId, id, tx.db)
      }),

    /** Removes a user, and the membership. @throws 404, 409 for the last owner */
    removeUser: (by: Provisioner, id: string): Promise<void> =>
      change(async (tx, changed) => {
        await user(by.organizationId, id, tx.db, true)
        await linkUsers(tx.db, by.organizationId, [id])
        changed(await endMembers(tx.db, by.organizationId, [id]))
        await tx.db.deleteFrom('scim_users').where('id', '=', id).execute()
        await note(tx, by, 'scim_user.removed', id)
      }),

    /** Creates a group. @throws 409 if the name is taken */
    createGroup: (by: Provisioner, input: ScimGroupInput): Promise<ScimGroupRow> =>
      change(async (tx, changed) => {
        const { organizationId } = by
        await requireRoom(tx, organizationId, 'scim_groups', MAX_SCIM_GROUPS)
        const id = randomUUID()
        const at = now()
        await tx.db
          .insertInto('scim_groups')
          .values({
            id,
            organization_id: organizationId,
            display_name: input.displayName,
            external_id: input.externalId,
            created_at: at,
            updated_at: at,
          })
          .execute()
        await note(tx, by, 'scim_group.created', id)
        changed(await saveMembers(tx, organizationId, id, input.members, []))
        return await group(organizationId, id, { members: true }, tx.db)
      }),

    /** Replaces a group with what `next` makes of the current one. @throws 404, 409 */
    updateGroup: (
      by: Provisioner,
      id: string,
      next: (current: ScimGroupRow) => ScimGroupInput | Promise<ScimGroupInput>,
    ): Promise<ScimGroupRow> =>
      change(async (tx, changed) => {
        const { organizationId } = by
        const current = await group(organizationId, id, { members: true, lock: true }, tx.db)
        const input = await next(current)
        await tx.db
          .updateTable('scim_groups')
          .set({ display_name: input.displayName, external_id: input.externalId, updated_at: now() })
          .where('id', '=', id)
          .execute()
        const before = (current.members ?? []).map((member) => member.id)
        changed(await saveMembers(tx, organizationId, id, input.members, before))
        // Another name can have another mapping.
        if (input.displayName !== current.displayName)
          changed(await syncMembers(tx.db, organizationId, input.members, { join: false }))
        await note(tx, by, 'scim_group.changed', id)
        return await group(organizationId, id, { members: true }, tx.db)
      }),

    /** Removes a group; its members stay, with the role of their other groups. @throws 404, 409 */
    removeGroup: (by: Provisioner, id: string): Promise<void> =>
      change(async (tx, changed) => {
        const { organizationId } = by
        const { members = [] } = await group(organizationId, id, { members: true, lock: true }, tx.db)
        await tx.db.deleteFrom('scim_groups').where('id', '=', id).execute()
        const ids = members.map((member) => member.id)
        changed(await syncMembers(tx.db, organizationId, ids, { join: false }))
        await note(tx, by, 'scim_group.removed', id)
      }),
  }

  async function countOf(
    table: 'scim_users' | 'scim_groups',
    organizationId: string,
    condition: Expression<SqlBool>,
  ): Promise<number> {
    const { count } = await db
      .selectFrom(table)
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('organization_id', '=', organizationId)
      .where(condition)
      .executeTakeFirstOrThrow()
    return Number(count)
  }
}
export type Scim = ReturnType<typeof createScim>

interface UserRow {
  readonly id: string
  readonly external_id: string | null
  readonly user_name: string
  readonly active: boolean
  readonly attributes: Record<string, unknown>
  readonly created_at: Date
  readonly updated_at: Date
}
type GroupRow = Omit<UserRow, 'user_name' | 'active' | 'attributes'> & { readonly display_name: string }

function asScimError(cause: unknown): unknown {
  const violated = uniqueViolation(cause)
  if (violated === 'one_scim_user_per_name')
    return scimError(409, 'uniqueness', 'Another user of the organization has this userName.')
  if (violated === 'one_scim_group_per_name')
    return scimError(409, 'uniqueness', 'Another group of the organization has this displayName.')
  return asLastOwner(cause)
}
