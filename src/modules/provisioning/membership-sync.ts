import { OrganizationRole } from '@wheelhouse/protocol'
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../core/database/tables.ts'
import { causesOf } from '../../core/errors/error-causes.ts'
import { conflict } from '../../core/errors/errors.ts'

/** Organizations that a person joins with one sign-in. */
const MAX_ORGANIZATIONS = 20
/** What a new member is whom no mapping gives a role. */
const DEFAULT_ROLE = sql.lit('viewer' satisfies OrganizationRole)
/** The roles, the one with most permissions first. A person in several mapped groups has the first one. */
const RANKED = sql`${OrganizationRole.options.map(String)}::text[]`

/**
 * Makes the memberships of provisioned users what their groups say, of SCIM or of the last sign-in, and returns the users whose membership changed. A user whom no
 * mapping concerns keeps a role that provisioning has not given.
 * @param join which of them become members: the others stay what they are, so that a member whom an admin removed does not return with
 *   an unrelated change
 */
export async function syncMembers(
  db: Db,
  organizationId: string,
  ids: readonly string[],
  { join }: { join: boolean },
): Promise<string[]> {
  if (ids.length === 0) return []
  const wanted = (last: RawBuilder<unknown>) => sql<{ user_id: string | null }>`
    with mapped as (
      select scim_users.id, scim_users.user_id, scim_users.role as given,
        (array_agg(mapping.role order by array_position(${RANKED}, mapping.role)) filter (where mapping.role is not null))[1] as role,
        array_agg(distinct mapping.group_id) filter (where mapping.group_id is not null) as group_ids,
        coalesce(bool_or(mapping.id is not null and mapping.group_id is null), false) as whole,
        ${DEFAULT_ROLE} as default_role
      from scim_users
      left join lateral (
        select scim_groups.display_name as name from scim_group_members as grouped
          join scim_groups on scim_groups.id = grouped.group_id
          where grouped.user_id = scim_users.id
        union select unnest(scim_users.claimed_groups)
      ) as named on true
      left join role_mappings as mapping on mapping.organization_id = ${organizationId}
        and lower(mapping.name collate "C") = lower(named.name collate "C")
      where scim_users.organization_id = ${organizationId} and scim_users.id = any(${[...ids]}::uuid[]) and scim_users.active
      group by scim_users.id
    ), wanted as (
      select mapped.id, mapped.user_id, mapped.given, mapped.role as mapped_role, member.role as current,
        mapped.role is not null or mapped.group_ids is not null or mapped.given is not null or member.role is null as managed,
        coalesce(mapped.role, case when mapped.given is null then member.role end, mapped.default_role) as role,
        -- Without a mapping that says so, nobody sees more robots than before.
        coalesce(mapped.group_ids, case when not mapped.whole then member.group_ids end) as group_ids
      from mapped left join organization_members as member
        on member.organization_id = ${organizationId} and member.user_id = mapped.user_id
    ) ${last}`
  const joined = join
    ? await wanted(sql`insert into organization_members (organization_id, user_id, role, group_ids)
        select ${organizationId}, user_id, role, case when role <> 'owner' then group_ids end
        from wanted where user_id is not null and current is null
        on conflict do nothing returning user_id`).execute(db)
    : undefined
  if (join) await noteGiven(db, ids, joined?.rows ?? [])
  const changed = await wanted(sql`, noted as (
      update scim_users set role = wanted.role from wanted
      where scim_users.id = wanted.id and (wanted.mapped_role is not null or wanted.given is not null)
        and scim_users.role is distinct from wanted.role
    ) update organization_members as member
      set role = wanted.role, group_ids = case when wanted.role <> 'owner' then wanted.group_ids end
      from wanted
      where member.organization_id = ${organizationId} and member.user_id = wanted.user_id and wanted.managed
        and (member.role, member.group_ids) is distinct from
          (wanted.role, case when wanted.role <> 'owner' then wanted.group_ids end)
      returning member.user_id`).execute(db)
  return [...(joined?.rows ?? []), ...changed.rows].flatMap(({ user_id }) => user_id ?? [])
}

/** Notes the role of members whom provisioning has added, so that it also takes it away. */
async function noteGiven(
  db: Db,
  ids: readonly string[],
  joined: readonly { user_id: string | null }[],
): Promise<void> {
  const userIds = joined.flatMap(({ user_id }) => user_id ?? [])
  if (userIds.length === 0) return
  await sql`update scim_users set role = member.role from organization_members as member
    where scim_users.id = any(${[...ids]}::uuid[]) and scim_users.user_id = any(${userIds}::uuid[])
      and member.organization_id = scim_users.organization_id and member.user_id = scim_users.user_id`.execute(
    db,
  )
}

/** Ends the memberships of provisioned users, and returns the users. @throws 409 for the last owner */
export async function endMembers(db: Db, organizationId: string, ids: readonly string[]): Promise<string[]> {
  const ended = await db
    .deleteFrom('organization_members')
    .where('organization_id', '=', organizationId)
    .where('user_id', 'in', (eb) =>
      eb
        .selectFrom('scim_users')
        .select(sql<string>`user_id`.as('user_id'))
        .where('id', '=', sql<string>`any(${[...ids]}::uuid[])`)
        .where('organization_id', '=', organizationId)
        .where('user_id', 'is not', null),
    )
    .returning('user_id')
    .execute()
  return ended.map(({ user_id }) => user_id)
}

/**
 * Links provisioned users to the user who has their name as verified address, in a verified domain of the organization; in another
 * domain, only to a member of it.
 */
export async function linkUsers(db: Db, organizationId: string, ids: readonly string[]): Promise<void> {
  await sql`update scim_users set user_id = (
      select users.id from users
      where lower(users.email collate "C") = lower(scim_users.user_name collate "C") and users.email_verified
        and users.service_of_id is null
        and not exists (select from scim_users as other where other.organization_id = ${organizationId} and other.user_id = users.id)
        and (exists (select from organization_domains as domain
            where domain.organization_id = ${organizationId} and domain.verified_at is not null
              and domain.domain = lower(split_part(users.email, '@', 2) collate "C"))
          or exists (select from organization_members as member
            where member.organization_id = ${organizationId} and member.user_id = users.id))
      order by users.created_at, users.id limit 1)
    where organization_id = ${organizationId} and id = any(${[...ids]}::uuid[]) and user_id is null`.execute(
    db,
  )
}

/** Returns the provisioned users, each with its organization, that a user could be and that have no user yet. */
export const provisionedAs = (db: Db, userId: string) =>
  db
    .selectFrom('users')
    .innerJoin('scim_users', (join) =>
      join.on(sql<boolean>`lower(scim_users.user_name collate "C") = lower(users.email collate "C")`),
    )
    .select(['scim_users.id', 'scim_users.organization_id'])
    .where('users.id', '=', userId)
    .where('users.email_verified', '=', true)
    .where('scim_users.active', '=', true)
    .where('scim_users.user_id', 'is', null)
    .limit(MAX_ORGANIZATIONS)
    .execute()

/** Returns a refusal of the database to remove the last owner as the error for the caller. */
export function asLastOwner(cause: unknown): unknown {
  const refused = [...causesOf(cause)].some(
    (error) => 'constraint' in error && error.constraint === 'organization_last_owner',
  )
  return refused
    ? conflict('last_owner', 'The last owner of an organization stays. Make another member an owner first.')
    : cause
}
