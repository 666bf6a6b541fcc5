import { randomUUID } from 'node:crypto'
import type { Role } from '@wheelhouse/protocol'
import { type Selectable, sql } from 'kysely'
import { createBatchLoader } from '../../../core/database/batch-loader.ts'
import { columnsOf } from '../../../core/database/columns.ts'
import { compiled } from '../../../core/database/compiled.ts'
import type { Db, Tables } from '../../../core/database/tables.ts'
import { notFound } from '../../../core/errors/errors.ts'
import type { Transact } from '../../../core/events/transactor.ts'
import type { TokenClaims } from '../tokens/tokens.ts'
import type { OnboardingFields } from './onboarding.ts'
import type { UpdateProfile } from './profile.schema.ts'
import { takeRole } from './role.service.ts'
import { User } from './user.entity.ts'

export type UserRow = Selectable<Tables['users']>

/** A user with what else their own profile tells: the uploaded avatar, and what onboarding asks for. */
export interface Account extends UserRow, OnboardingFields {
  readonly avatar_name: string | null
}

/** The columns that decide what a user may do. */
export type RoleAttributes = Pick<UserRow, 'is_client' | 'is_operator' | 'email' | 'email_verified'>

/** Users by what their tokens say; each with the place of the token. */
const findTokenUsers = compiled<{ issuers: readonly string[]; subjects: readonly string[] }>()((db, place) =>
  db
    .selectFrom(
      sql<{ issuer: string; subject: string; place: number }>`unnest(
        ${place('issuers')}::text[], ${place('subjects')}::text[]
      ) with ordinality`.as<'token'>(sql`token (issuer, subject, place)`),
    )
    .innerJoin('users', (join) =>
      join.onRef('users.issuer', '=', 'token.issuer').onRef('users.subject', '=', 'token.subject'),
    )
    .select('token.place')
    .select(columnsOf(User).map((column) => `users.${column}` as const)),
)

const findRoleAttributes = compiled<{ ids: readonly string[] }>()((db, place) =>
  db
    .selectFrom('users')
    .select(['id', 'is_client', 'is_operator', 'email', 'email_verified'])
    .where('id', '=', sql<string>`any(${place('ids')}::uuid[])`),
)

/** People of the platform, known by the identity provider's (issuer, subject). */
export function createUsers(deps: {
  db: Db
  transact: Transact
  now: () => Date
  adminEmails: readonly string[]
}) {
  const { db, transact, now } = deps
  const adminEmails = new Set(deps.adminEmails.map(lowerCase))

  const loadTokenUser = createBatchLoader(async (claims: readonly TokenClaims[]) => {
    const issuers = claims.map(({ issuer }) => issuer)
    const subjects = claims.map(({ subject }) => subject)
    const rows = await findTokenUsers(db, { issuers, subjects })
    const found = new Map(rows.map(({ place, ...user }): [number, UserRow] => [place, user]))
    return claims.map((_, index) => found.get(index + 1))
  })

  const loadRoleAttributes = createBatchLoader(async (ids: readonly string[]) => {
    const found = new Map((await findRoleAttributes(db, { ids })).map((user) => [user.id, user]))
    return ids.map((id) => found.get(id))
  })

  /** @throws 404 unknown. */
  async function account(userId: string, from: Db = db): Promise<Account> {
    const found = await from
      .selectFrom('users')
      .leftJoin('client_profiles', 'client_profiles.user_id', 'users.id')
      .leftJoin('operator_profiles', 'operator_profiles.user_id', 'users.id')
      .leftJoin('avatars', 'avatars.user_id', 'users.id')
      .selectAll('users')
      .select(['client_profiles.contact_email', 'operator_profiles.headline', 'operator_profiles.timezone'])
      .select('avatars.name as avatar_name')
      .where('users.id', '=', userId)
      .executeTakeFirst()
    return found ?? throwUserNotFound()
  }

  /** Roles held now. Admin follows from a verified e-mail, so it ends when the address leaves the list. */
  function rolesOf(user: RoleAttributes): Role[] {
    const admin = user.email_verified && adminEmails.has(lowerCase(user.email ?? ''))
    return [
      ...(user.is_client ? (['client'] as const) : []),
      ...(user.is_operator ? (['operator'] as const) : []),
      ...(admin ? (['admin'] as const) : []),
    ]
  }

  return {
    account,

    /** The user of a verified token, made on first sight. One query for all users who are already known and ask at once. */
    async forClaims(claims: TokenClaims): Promise<UserRow> {
      const known = await loadTokenUser(claims)
      if (known) return known
      const created = await db
        .insertInto('users')
        .values({
          id: randomUUID(),
          issuer: claims.issuer,
          subject: claims.subject,
          email: claims.email ?? null,
          email_verified: claims.emailVerified,
          display_name: claims.name ?? defaultName(claims.email),
          avatar_url: claims.picture ?? null,
        })
        .onConflict((conflict) => conflict.columns(['issuer', 'subject']).doNothing())
        .returningAll()
        .executeTakeFirst()
      if (created) return created
      // A request of the same person was faster. The insert waited for its commit, so the row is visible now.
      const concurrent = await loadTokenUser(claims)
      if (!concurrent) throw new Error('a user vanished while being created')
      return concurrent
    },

    /** Takes over what the identity provider says now; what it does not mention stays, and a chosen name too. */
    async refresh(userId: string, claims: Omit<TokenClaims, 'expiresAt'>): Promise<Account> {
      const name = claims.name ?? null
      await db
        .updateTable('users')
        .set({
          ...(claims.email && { email: claims.email, email_verified: claims.emailVerified }),
          ...(claims.picture && { avatar_url: claims.picture }),
          display_name: sql`case when display_name_chosen then display_name else coalesce(${name}, display_name) end`,
        })
        .where('id', '=', userId)
        .execute()
      return await account(userId)
    },

    /** Changes what the user may change; a chosen role is added to those already held. */
    updateProfile: (userId: string, change: UpdateProfile): Promise<Account> =>
      transact(async (tx) => {
        if (change.role) await takeRole(tx, now(), userId, change.role)
        const preferences = JSON.stringify(change.notification_preferences ?? {})
        await tx.db
          .updateTable('users')
          .set({
            // Merged by the database, so that two changes at once lose nothing.
            notification_preferences: sql`notification_preferences || ${preferences}::jsonb`,
            ...(change.display_name !== undefined && {
              display_name: change.display_name,
              display_name_chosen: true,
            }),
          })
          .where('id', '=', userId)
          .execute()
        return await account(userId, tx.db)
      }),

    /** @throws 404 unknown. */
    async byId(userId: string): Promise<UserRow> {
      const user = await db.selectFrom('users').selectAll().where('id', '=', userId).executeTakeFirst()
      return user ?? throwUserNotFound()
    },

    /**
     * Whose rights have changed in the last milliseconds, and how often in all. Ask with a margin for changes that
     * were still committing.
     */
    permissionsChangedWithin: (ms: number) =>
      db
        .selectFrom('users')
        .select(['id', 'permissions_version'])
        .where('permissions_changed_at', '>=', sql<Date>`now() - ${ms} * interval '1 millisecond'`)
        .execute(),

    /** Whether somebody with this id may operate robots. */
    async isOperator(userId: string): Promise<boolean> {
      const user = await db
        .selectFrom('users')
        .select('is_operator')
        .where('id', '=', userId)
        .executeTakeFirst()
      return user?.is_operator ?? false
    },

    rolesOf,

    /**
     * The roles that somebody holds at this moment; one query answers all who ask in it.
     * @throws 404 unknown.
     */
    async currentRoles(userId: string): Promise<Role[]> {
      return rolesOf((await loadRoleAttributes(userId)) ?? throwUserNotFound())
    },
  }
}
export type Users = ReturnType<typeof createUsers>

/** Of A to Z alone: elsewhere two letters may share a small one, such as K and the Kelvin sign, and so two people. */
const lowerCase = (email: string) => email.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

function throwUserNotFound(): never {
  throw notFound('User')
}

function defaultName(email: string | undefined): string {
  return email?.split('@')[0]?.trim().slice(0, 100).toWellFormed() || 'User'
}
