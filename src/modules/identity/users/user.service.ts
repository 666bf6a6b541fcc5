import { randomUUID } from 'node:crypto'
import type { Role } from '@wheelhouse/protocol'
import { type Selectable, sql } from 'kysely'
import { createBatchLoader } from '../../../core/database/batch-loader.ts'
import { columnsOf } from '../../../core/database/columns.ts'
import { compiled } from '../../../core/database/compiled.ts'
import type { Db, Tables } from '../../../core/database/tables.ts'
import { notFound, unauthorized } from '../../../core/errors/errors.ts'
import type { Transact } from '../../../core/events/transactor.ts'
import type { Secrets } from '../../../core/secrets.ts'
import type { TokenClaims } from '../tokens/tokens.ts'
import type { OnboardingFields } from './onboarding.ts'
import type { UpdateProfile } from './profile.schema.ts'
import { addRole } from './role.service.ts'
import { signInHash } from './sign-in-hash.ts'
import { User } from './user.entity.ts'
import { newestMatchingUsers } from './user-search.ts'

export type UserRow = Selectable<Tables['users']>

/** A user with the uploaded avatar and the onboarding fields. */
export interface Account extends UserRow, OnboardingFields {
  readonly avatar_name: string | null
}

/** The columns that determine a user's roles. */
export type RoleAttributes = Pick<
  UserRow,
  'is_client' | 'is_operator' | 'email' | 'email_verified' | 'suspended_at'
>

/** Maximum number of users that one query reads. */
const MAX_USERS_PER_QUERY = 500

/** Selects the users of (issuer, subject) pairs, each with the position of its pair. */
const findTokenUsers = compiled<{ issuers: readonly string[]; subjects: readonly string[] }>()((db, param) =>
  db
    .selectFrom(
      sql<{ issuer: string; subject: string; position: number }>`unnest(
        ${param('issuers')}::text[], ${param('subjects')}::text[]
      ) with ordinality`.as<'token'>(sql`token (issuer, subject, position)`),
    )
    .innerJoin('users', (join) =>
      join.onRef('users.issuer', '=', 'token.issuer').onRef('users.subject', '=', 'token.subject'),
    )
    .select('token.position')
    .select(columnsOf(User).map((column) => `users.${column}` as const)),
)

const findRoleAttributes = compiled<{ ids: readonly string[] }>()((db, _param, oneOf) =>
  db
    .selectFrom('users')
    .select(['id', 'is_client', 'is_operator', 'email', 'email_verified', 'suspended_at'])
    .where('id', '=', oneOf('ids', 'uuid')),
)

/** Creates the user service. The identity provider's (issuer, subject) pair identifies a user. */
export function createUsers(deps: {
  db: Db
  transact: Transact
  now: () => Date
  secrets: Pick<Secrets, 'sign'>
  adminEmails: readonly string[]
  /** Makes a user a member of the organizations that have provisioned the verified address. */
  joinProvisioned?: (userId: string) => Promise<void>
}) {
  const { db, transact, now, secrets, joinProvisioned = async () => {} } = deps
  const adminEmails = new Set(deps.adminEmails.map(lowerCase))

  const loadTokenUser = createBatchLoader(
    async (claims: readonly TokenClaims[]) => {
      const issuers = claims.map(({ issuer }) => issuer)
      const subjects = claims.map(({ subject }) => subject)
      const rows = await findTokenUsers(db, { issuers, subjects })
      const found = new Map(rows.map(({ position, ...user }): [number, UserRow] => [position, user]))
      return claims.map((_, index) => found.get(index + 1))
    },
    // Signatures are checked by other threads, so tokens that arrive together are ready in different turns.
    { maxBatchSize: MAX_USERS_PER_QUERY, intervalMs: 2 },
  )

  const loadRoleAttributes = createBatchLoader(
    async (ids: readonly string[]) => {
      const found = new Map((await findRoleAttributes(db, { ids })).map((user) => [user.id, user]))
      return ids.map((id) => found.get(id))
    },
    { maxBatchSize: MAX_USERS_PER_QUERY },
  )

  /** Returns a user's account. @throws 404 if the user does not exist. */
  async function account(userId: string, from: Db = db): Promise<Account> {
    const found = await from
      .selectFrom('users')
      .leftJoin('client_profiles', 'client_profiles.organization_id', 'users.id')
      .leftJoin('operator_profiles', 'operator_profiles.user_id', 'users.id')
      .leftJoin('avatars', 'avatars.user_id', 'users.id')
      .selectAll('users')
      .select(['client_profiles.contact_email', 'operator_profiles.headline', 'operator_profiles.timezone'])
      .select('avatars.name as avatar_name')
      .where('users.id', '=', userId)
      .executeTakeFirst()
    return found ?? throwUserNotFound()
  }

  /** Returns the roles that a user has, also while suspended. An admin has a verified e-mail of the configured list. */
  function assignedRoles(user: Omit<RoleAttributes, 'suspended_at'>): Role[] {
    const isAdmin = user.email_verified && adminEmails.has(lowerCase(user.email ?? ''))
    return [
      ...(user.is_client ? (['client'] as const) : []),
      ...(user.is_operator ? (['operator'] as const) : []),
      ...(isAdmin ? (['admin'] as const) : []),
    ]
  }

  /** Returns the roles that a user may use: none while suspended. */
  const rolesOf = (user: RoleAttributes): Role[] => (user.suspended_at === null ? assignedRoles(user) : [])

  /**
   * Refuses a token from before the deletion of its account: a program that still has it would make a new account at once. Tokens have
   * the time in seconds, so that one of the same second is refused too.
   * @throws 401
   */
  async function requireNewSignIn(claims: TokenClaims): Promise<void> {
    const ended = await db
      .selectFrom('ended_sign_ins')
      .select('ended_at')
      .where('sign_in_hash', '=', signInHash(secrets, claims))
      .executeTakeFirst()
    if (ended && (claims.issuedAt ?? new Date(0)) <= ended.ended_at)
      throw unauthorized(
        'token_invalid',
        'The account of this session was deleted. Sign in again to create a new one.',
      )
  }

  return {
    account,

    /** Returns the user of a verified token, created on first use. Concurrent calls for known users share a query. */
    async forClaims(claims: TokenClaims): Promise<UserRow> {
      const known = await loadTokenUser(claims)
      if (known) return known
      await requireNewSignIn(claims)
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
      if (created) {
        await joinProvisioned(created.id)
        return created
      }
      // A concurrent request created the user. The insert waited for its commit, so the row is visible now.
      const concurrent = await loadTokenUser(claims)
      if (!concurrent) throw new Error('The user was deleted while it was being created')
      return concurrent
    },

    /** Updates a user from the identity provider's claims. Missing claims and a chosen name do not change anything. */
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
      await joinProvisioned(userId)
      return await account(userId)
    },

    /** Updates a user's own profile and adds the role, if given. */
    updateProfile: (userId: string, change: UpdateProfile, credential?: string): Promise<Account> =>
      transact(async (tx) => {
        if (change.role) await addRole(tx, now(), userId, change.role, credential)
        const preferences = JSON.stringify(change.notification_preferences ?? {})
        await tx.db
          .updateTable('users')
          .set({
            // The database merges the preferences, so that concurrent changes are not lost.
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

    /** Returns a user. @throws 404 if the user does not exist. */
    async byId(userId: string): Promise<UserRow> {
      const user = await db.selectFrom('users').selectAll().where('id', '=', userId).executeTakeFirst()
      return user ?? throwUserNotFound()
    },

    /**
     * Returns the users whose permissions changed in the last `ms` milliseconds, with the current version, and whether they
     * are suspended. Add a margin for transactions that commit late.
     */
    permissionsChangedWithin: (ms: number) =>
      db
        .selectFrom('users')
        .select(['id', 'permissions_version', sql<boolean>`suspended_at is not null`.as('suspended')])
        .where('permissions_changed_at', '>=', sql<Date>`now() - ${ms} * interval '1 millisecond'`)
        .execute(),

    /** Returns the newest users whose name and e-mail contain all words of a search, or who have this id. */
    find: (search: string, limit: number) => newestMatchingUsers(db, search, limit),

    /** Returns whether the user has the operator role and is not suspended. */
    async isOperator(userId: string): Promise<boolean> {
      const user = await db
        .selectFrom('users')
        .select('is_operator')
        .where('id', '=', userId)
        .where('suspended_at', 'is', null)
        .executeTakeFirst()
      return user?.is_operator ?? false
    },

    rolesOf,
    assignedRoles,
    /** The configured addresses of admins, with A to Z in lower case. */
    adminEmails: [...adminEmails],

    /** Returns what determines a user's roles. Concurrent calls share a query. @throws 404 if the user does not exist */
    roleAttributes: async (userId: string): Promise<RoleAttributes> =>
      (await loadRoleAttributes(userId)) ?? throwUserNotFound(),

    /**
     * Returns a user's current roles of the platform, which a member of teams may have none of; undefined for a user who is suspended
     * or does not exist. Concurrent calls share a query.
     */
    async activeRoles(userId: string): Promise<readonly Role[] | undefined> {
      const user = await loadRoleAttributes(userId)
      return user?.suspended_at === null ? rolesOf(user) : undefined
    },
  }
}
export type Users = ReturnType<typeof createUsers>

/** Lowers only A to Z. Other letters can share a lower case, such as K and the Kelvin sign: two addresses would match. */
const lowerCase = (email: string) => email.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

function throwUserNotFound(): never {
  throw notFound('User')
}

function defaultName(email: string | undefined): string {
  return email?.split('@')[0]?.trim().slice(0, 100).toWellFormed() || 'User'
}
