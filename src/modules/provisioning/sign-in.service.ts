import { randomUUID } from 'node:crypto'
import type { Role } from '@wheelhouse/protocol'
import { type Selectable, sql } from 'kysely'
import { z } from 'zod'
import { audit } from '../../core/audit/audit.ts'
import type { CoreServices } from '../../core/core-services.ts'
import { createBatchLoader } from '../../core/database/batch-loader.ts'
import type { Db, Tables } from '../../core/database/tables.ts'
import {
  AppError,
  forbidden,
  missingReference,
  unauthorized,
  uniqueViolation,
} from '../../core/errors/errors.ts'
import type { SignIn } from '../../core/permissions/caller.ts'
import { asLastOwner, linkUsers, syncMembers } from './membership-sync.ts'
import { MAX_SCIM_USERS } from './scim.service.ts'
import { isId } from './scim-messages.ts'
import { domainOf, type OrganizationProvider } from './sign-in-settings.service.ts'

/** The prefix of tokens of sign-ins with the provider of an organization. */
const SIGN_IN_PREFIX = 'sso_'
const TOKEN_PURPOSE = 'organization-sign-in'
/** Groups of a person that are read from a token, and the length of a name in characters. More are ignored. */
const MAX_CLAIMED_GROUPS = 500
const MAX_GROUP_NAME_LENGTH = 255
/** Sign-ins of a person with one provider, on several devices; a new one ends the oldest. */
const MAX_SIGN_INS = 50
/** Sign-ins that one query reads. */
const MAX_SIGN_INS_PER_QUERY = 500
/** Hours after which a sign-in ends if the organization has not chosen another time. */
export const DEFAULT_SESSION_HOURS = 12

type UserRow = Selectable<Tables['users']>

/** What a sign-in needs of the users, whom the identity module keeps. */
export interface SignInUsers {
  forClaims(claims: PersonClaims & { expiresAt: Date; issuedAt?: Date }): Promise<UserRow>
  refresh(userId: string, claims: PersonClaims): Promise<unknown>
  byId(userId: string): Promise<UserRow>
  assignedRoles(user: Pick<UserRow, 'is_client' | 'is_operator' | 'email' | 'email_verified'>): Role[]
}
interface PersonClaims {
  readonly issuer: string
  readonly subject: string
  readonly email: string
  readonly emailVerified: boolean
  readonly name?: string
}

const refused = (why: string) => forbidden('sign_in_refused', why)

const Claims = z.object({
  sub: z
    .string()
    .max(255)
    .regex(/^\P{Cc}+$/u),
  email: z
    .string()
    .max(320)
    .regex(/^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u),
  email_verified: z.union([z.boolean(), z.enum(['true', 'false'])]).default(true),
  iat: z.number(),
  exp: z.number(),
})

/** Creates the service that decides who comes in with the provider of an organization, and as what. */
export function createSignIns(deps: Pick<CoreServices, 'db' | 'transact' | 'bus' | 'now' | 'secrets'>) {
  const { db, transact, bus, now, secrets } = deps

  const load = createBatchLoader(
    async (ids: readonly string[]) => {
      const rows = await db
        .selectFrom('sign_in_sessions as session')
        .innerJoin('organization_identities as identity', 'identity.id', 'session.identity_id')
        .innerJoin('users', 'users.id', 'identity.user_id')
        .selectAll('users')
        .select(['session.id as session_id', 'session.expires_at', 'identity.organization_id'])
        .where('session.id', '=', sql<string>`any(${[...ids]}::uuid[])`)
        .execute()
      const found = new Map(rows.map((row) => [row.session_id, row]))
      return ids.map((id) => found.get(id))
    },
    { maxBatchSize: MAX_SIGN_INS_PER_QUERY },
  )

  /** Returns the id of the sign-in of a token; undefined if the signature is wrong. */
  function idOfToken(token: string): string | undefined {
    const [id = '', signature = ''] = token.slice(SIGN_IN_PREFIX.length).split('.')
    return isId(id) && secrets.verify(TOKEN_PURPOSE, id, signature) ? id : undefined
  }

  /** Returns the verified domain of the organization that an address is in. @throws 403 */
  async function requireDomain(organizationId: string, email: string): Promise<string> {
    const domain = await db
      .selectFrom('organization_domains')
      .select('id')
      .where('organization_id', '=', organizationId)
      .where('domain', '=', domainOf(email))
      .where('verified_at', 'is not', null)
      .executeTakeFirst()
    if (!domain) throw refused('Your address is not in a verified domain of the organization.')
    return domain.id
  }

  /** Returns what provisioning knows about a person: by the user, or by the address as the name. */
  const descriptionOf = (organizationId: string, userId: string | undefined, email: string) =>
    db
      .selectFrom('scim_users')
      .select(['id', 'user_id', 'active', 'claimed_groups'])
      .where('organization_id', '=', organizationId)
      .where(
        sql<boolean>`(user_id = ${userId ?? null}::uuid or lower(user_name collate "C") = lower(${email} collate "C"))`,
      )
      .orderBy(sql`user_id is not distinct from ${userId ?? null}::uuid`, 'desc')
      .executeTakeFirst()

  /** Returns the user who has a verified address: a member of the organization before others, then the oldest. */
  const userWithAddress = (organizationId: string, email: string) =>
    db
      .selectFrom('users')
      .leftJoin('organization_members as member', (join) =>
        join.onRef('member.user_id', '=', 'users.id').on('member.organization_id', '=', organizationId),
      )
      .select('users.id')
      .where(sql<boolean>`lower(users.email collate "C") = lower(${email} collate "C")`)
      .where('users.email_verified', '=', true)
      .where('users.service_of_id', 'is', null)
      .where('users.deleted_at', 'is', null)
      .orderBy(sql`member.user_id is null`)
      .orderBy('users.created_at')
      .orderBy('users.id')
      .executeTakeFirst()

  const membershipOf = (from: Db, organizationId: string, userId: string) =>
    from
      .selectFrom('organization_members')
      .select('role')
      .where('organization_id', '=', organizationId)
      .where('user_id', '=', userId)
      .executeTakeFirst()

  /** Makes a person a member, or gives the role of the groups in the token, where SCIM does not say it. */
  async function provision(
    organizationId: string,
    person: {
      userId: string
      email: string
      groups: string[]
      description: string | undefined
      joins: boolean
    },
  ): Promise<void> {
    const { userId, email, groups, joins } = person
    const changed = await transact(async (tx) => {
      let id = person.description
      if (id === undefined) {
        const added = await sql<{ id: string }>`
          insert into scim_users (id, organization_id, user_name, user_id, claimed_groups, created_at, updated_at)
          select ${randomUUID()}::uuid, ${organizationId}::uuid, ${email}, ${userId}::uuid, ${groups}::text[], ${now()}, ${now()}
          where (select count(*) from scim_users where organization_id = ${organizationId}) < ${MAX_SCIM_USERS}
          on conflict do nothing returning id`.execute(tx.db)
        id = added.rows[0]?.id
        if (id === undefined) throw refused('You could not become a member. Sign in again.')
      } else {
        await tx.db
          .updateTable('scim_users')
          .set({ claimed_groups: groups })
          .where('id', '=', id)
          .where('claimed_groups', 'is not', null)
          .execute()
        await linkUsers(tx.db, organizationId, [id])
      }
      return await syncMembers(tx.db, organizationId, [id], { join: joins })
    }).catch((cause) => {
      const error = asLastOwner(cause)
      // The last owner stays one, and must not be kept out because of it.
      if (error instanceof AppError && error.code === 'last_owner') return []
      throw error
    })
    for (const changedId of changed) bus.publish('permissions.lost', { userId: changedId, suspended: false })
  }

  return {
    /**
     * Admits the person of a verified ID token, and returns the token of the sign-in.
     * @throws 403 for a person whom the organization does not admit
     */
    async complete(
      provider: OrganizationProvider,
      claims: Readonly<Record<string, unknown>>,
      name: string | undefined,
      users: SignInUsers,
    ): Promise<{ token: string; expiresAt: Date }> {
      const { organizationId, issuer } = provider
      const parsed = Claims.safeParse(claims)
      if (!parsed.success)
        throw refused('The provider sends no address for you. An owner must let it send the claim email.')
      const { sub: subject, email, email_verified, iat, exp } = parsed.data
      if (email_verified === false || email_verified === 'false')
        throw refused('The provider says that your address is not verified.')
      const domainId = await requireDomain(organizationId, email)
      const settings = await db
        .selectFrom('organization_sign_ins')
        .select(['groups_claim', 'creates_members'])
        .where('organization_id', '=', organizationId)
        .executeTakeFirstOrThrow()
      const identity = await db
        .selectFrom('organization_identities')
        .select('user_id')
        .where('organization_id', '=', organizationId)
        .where('subject', '=', subject)
        .executeTakeFirst()
      let userId = identity?.user_id ?? (await userWithAddress(organizationId, email))?.id
      const description = await descriptionOf(organizationId, userId, email)
      if (description?.active === false) throw refused('Your organization has deactivated you.')

      const member = userId && (await membershipOf(db, organizationId, userId))
      // Whom the organization has removed does not come back by signing in.
      const joins = !member && (description ? description.user_id === null : settings.creates_members)
      if (!member && !joins) throw refused('You are no member of the organization. Ask it for an invitation.')
      const known = userId === undefined ? undefined : await users.byId(userId)
      const claimed = { email, email_verified: true, is_client: false, is_operator: false }
      if ([claimed, known ?? claimed].some((user) => users.assignedRoles(user).includes('admin')))
        throw refused('Administrators of the platform sign in with the provider of the platform.')
      // Of nobody else: organizations can have the same issuer.
      const person = {
        issuer: `${issuer}#${organizationId}`,
        subject,
        email,
        emailVerified: true,
        ...(name !== undefined && { name }),
      }
      const issued = { issuedAt: new Date(iat * 1000), expiresAt: new Date(exp * 1000) }
      userId ??= (await users.forClaims({ ...person, ...issued })).id
      if (known?.issuer === person.issuer) await users.refresh(userId, person)
      if (joins || (description?.claimed_groups && description.user_id === userId))
        await provision(organizationId, {
          userId,
          email,
          groups: groupsOf(claims[settings.groups_claim]),
          description: description?.id,
          joins,
        })
      return await open(provider, { userId, subject, domainId })
    },

    /** Returns whether a credential claims to be a sign-in with the provider of an organization. */
    isToken: (token: string): boolean => token.startsWith(SIGN_IN_PREFIX),

    /** Returns the user of a sign-in. @throws 401 if it has ended */
    async resolve(token: string): Promise<{ user: UserRow; expiresAt: Date; signIn: SignIn }> {
      const id = idOfToken(token)
      const found = id === undefined ? undefined : await load(id)
      if (!found) throw unauthorized('token_invalid', 'The sign-in has ended. Sign in again.')
      const { session_id, expires_at, organization_id, ...user } = found
      if (expires_at <= now()) throw unauthorized('token_expired', 'The sign-in has expired. Sign in again.')
      return { user, expiresAt: expires_at, signIn: { id: session_id, organizationId: organization_id } }
    },

    /** Ends a sign-in, if the token is one. */
    async end(token: string): Promise<void> {
      const id = token.startsWith(SIGN_IN_PREFIX) ? idOfToken(token) : undefined
      if (id !== undefined) await db.deleteFrom('sign_in_sessions').where('id', '=', id).execute()
    },

    /** Returns the organization whose provider a user has to sign in with, by the domain of the address; undefined if there is none. */
    async requiredOf({ id, email }: Pick<UserRow, 'id' | 'email'>): Promise<string | undefined> {
      if (email === null) return undefined
      const found = await db
        .selectFrom('organization_domains as domain')
        .innerJoin('organization_sign_ins as own', 'own.organization_id', 'domain.organization_id')
        .innerJoin('organization_members as member', 'member.organization_id', 'domain.organization_id')
        .select('own.organization_id')
        .where('domain.domain', '=', domainOf(email))
        .where('domain.verified_at', 'is not', null)
        .where('own.enforced', '=', true)
        .where('member.user_id', '=', id)
        .where('member.role', '<>', 'owner')
        .executeTakeFirst()
      return found?.organization_id
    },
  }

  /** Records the sign-in of a member. @throws 403 if the settings, the domain or the membership have changed meanwhile */
  async function open(
    { organizationId, issuer, version }: OrganizationProvider,
    { userId, subject, domainId }: { userId: string; subject: string; domainId: string },
  ): Promise<{ token: string; expiresAt: Date }> {
    return await transact(async (tx) => {
      const at = now()
      const settings = await tx.db
        .selectFrom('organization_sign_ins')
        .innerJoin('organizations', 'organizations.id', 'organization_sign_ins.organization_id')
        .select(['updated_at', 'session_hours'])
        .where('organization_id', '=', organizationId)
        .forNoKeyUpdate('organization_sign_ins')
        .executeTakeFirst()
      if (settings?.updated_at.toISOString() !== version)
        throw refused('The settings have changed. Sign in again.')
      const identity = await tx.db
        .insertInto('organization_identities')
        .values({
          id: randomUUID(),
          organization_id: organizationId,
          subject,
          user_id: userId,
          domain_id: domainId,
          created_at: at,
        })
        .onConflict((conflict) =>
          conflict.columns(['organization_id', 'subject']).doUpdateSet({ domain_id: domainId }),
        )
        .returning('id')
        .executeTakeFirstOrThrow()
      await sql`delete from sign_in_sessions where identity_id = ${identity.id} and (expires_at <= ${at} or id in (
        select id from sign_in_sessions where identity_id = ${identity.id}
        order by created_at desc, id desc offset ${MAX_SIGN_INS - 1}))`.execute(tx.db)
      const id = randomUUID()
      const hours = settings.session_hours ?? DEFAULT_SESSION_HOURS
      const expiresAt = new Date(at.getTime() + hours * 3_600_000)
      await tx.db
        .insertInto('sign_in_sessions')
        .values({ id, identity_id: identity.id, created_at: at, expires_at: expiresAt })
        .execute()
      if ((await membershipOf(tx.db, organizationId, userId))?.role === 'owner')
        await tx.db
          .updateTable('organization_sign_ins')
          .set({ owner_signed_in_at: at })
          .where('organization_id', '=', organizationId)
          .execute()
      await audit(tx, {
        at,
        organizationId,
        actorId: userId,
        credential: `sign_in:${id}`,
        action: 'sign_in.completed',
        subject: ['sign_in', id],
        data: { issuer, expires_at: expiresAt.toISOString() },
      })
      return { token: `${SIGN_IN_PREFIX}${id}.${secrets.sign(TOKEN_PURPOSE, id)}`, expiresAt }
    }).catch((cause) => {
      if (uniqueViolation(cause) === 'one_identity_per_user')
        throw refused(
          'Your address belongs to another account of the provider. An owner must remove the member with it first.',
        )
      if (missingReference(cause) !== undefined)
        throw refused('The membership or the settings have ended. Sign in again.')
      throw cause
    })
  }
}

/** Returns the names of groups of a claim: a list of texts, or one text. */
function groupsOf(claim: unknown): string[] {
  const names = (Array.isArray(claim) ? claim : [claim]).slice(0, MAX_CLAIMED_GROUPS)
  return names.filter(
    (name): name is string =>
      typeof name === 'string' && name.length <= MAX_GROUP_NAME_LENGTH && !name.includes('\0'),
  )
}
