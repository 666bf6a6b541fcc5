import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { audit } from '../../core/audit/audit.ts'
import type { Db } from '../../core/database/tables.ts'
import { conflict, notFound, uniqueViolation } from '../../core/errors/errors.ts'
import type { Transact } from '../../core/events/transactor.ts'
import type { Provisioner } from './scim.service.ts'
import { isId } from './scim-messages.ts'

/** The prefix of SCIM tokens, by which scanners for secrets find them. */
const SCIM_TOKEN_PREFIX = 'scim_'
/** Usable SCIM tokens of an organization: two for a rotation, and more for several identity providers. */
const MAX_SCIM_TOKENS = 10
/** Mappings of an organization. */
const MAX_ROLE_MAPPINGS = 500
/** Resolution of `last_used_at`. */
const USE_RESOLUTION_SECONDS = 60

const hashOf = (token: string) => createHash('sha256').update(token).digest('hex')

interface RoleMappingInput {
  readonly name: string
  readonly role?: 'owner' | 'admin' | 'supervisor' | 'operator' | 'viewer' | 'billing' | null | undefined
  readonly group_id?: string | null | undefined
}

/** Creates the service of SCIM tokens and role mappings: how an identity provider gets in, and what its groups mean here. */
export function createScimTokens(deps: { db: Db; transact: Transact; now: () => Date }) {
  const { db, transact, now } = deps

  return {
    /** Creates a token. Only this result contains it. @throws 409 */
    create: (organizationId: string, actorId: string, name: string) =>
      transact(async (tx) => {
        const token = SCIM_TOKEN_PREFIX + randomBytes(32).toString('base64url')
        await lockOrganization(tx.db, organizationId)
        const { count } = await tx.db
          .selectFrom('scim_tokens')
          .select((eb) => eb.fn.countAll<number>().as('count'))
          .where('organization_id', '=', organizationId)
          .where('revoked_at', 'is', null)
          .executeTakeFirstOrThrow()
        if (Number(count) >= MAX_SCIM_TOKENS)
          throw conflict(
            'organization_limit_reached',
            `An organization can have ${MAX_SCIM_TOKENS} SCIM tokens. Revoke one first.`,
          )
        const row = await tx.db
          .insertInto('scim_tokens')
          .values({
            id: randomUUID(),
            organization_id: organizationId,
            name,
            hash: hashOf(token),
            created_by_id: actorId,
            created_at: now(),
          })
          .returningAll()
          .executeTakeFirstOrThrow()
        await audit(tx, {
          at: now(),
          organizationId,
          actorId,
          action: 'scim_token.created',
          subject: ['scim_token', row.id],
          data: { organization_id: organizationId, name },
        })
        return { ...row, token }
      }),

    /** Returns the usable tokens, newest first. */
    list: (organizationId: string) =>
      db
        .selectFrom('scim_tokens')
        .selectAll()
        .where('organization_id', '=', organizationId)
        .where('revoked_at', 'is', null)
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(MAX_SCIM_TOKENS)
        .execute(),

    /** Revokes a token at once. @throws 404 */
    revoke: (organizationId: string, actorId: string, id: string) =>
      transact(async (tx) => {
        const revoked = await tx.db
          .updateTable('scim_tokens')
          .set({ revoked_at: now() })
          .where('id', '=', id)
          .where('organization_id', '=', organizationId)
          .where('revoked_at', 'is', null)
          .returning('id')
          .executeTakeFirst()
        if (!revoked) throw notFound('SCIM token')
        await audit(tx, {
          at: now(),
          organizationId,
          actorId,
          action: 'scim_token.revoked',
          subject: ['scim_token', id],
          data: { organization_id: organizationId },
        })
      }),

    /** Returns who a token is for; undefined for an unknown or revoked token, and for one of another organization. */
    async resolve(token: string, organizationId: string): Promise<Provisioner | undefined> {
      if (!token.startsWith(SCIM_TOKEN_PREFIX) || !isId(organizationId)) return undefined
      const found = await db
        .selectFrom('scim_tokens')
        .select(['id', 'organization_id'])
        .select(
          sql<boolean>`coalesce(last_used_at < now() - ${USE_RESOLUTION_SECONDS} * interval '1 second', true)`.as(
            'stale',
          ),
        )
        .where('hash', '=', hashOf(token))
        .where('organization_id', '=', organizationId)
        .where('revoked_at', 'is', null)
        .executeTakeFirst()
      if (!found) return undefined
      if (found.stale)
        await db
          .updateTable('scim_tokens')
          .set({ last_used_at: sql`now()` })
          .where('id', '=', found.id)
          .execute()
      return { organizationId: found.organization_id, tokenId: found.id }
    },

    /** Returns the role mappings by name. */
    mappings: (organizationId: string) =>
      db
        .selectFrom('role_mappings')
        .selectAll()
        .where('organization_id', '=', organizationId)
        .orderBy('name')
        .orderBy('id')
        .limit(MAX_ROLE_MAPPINGS)
        .execute(),

    /** Adds a mapping. It applies to members at their next change or sign-in. @throws 404 for a group, 409 */
    addMapping: (organizationId: string, { name, role = null, group_id = null }: RoleMappingInput) =>
      transact(async (tx) => {
        await lockOrganization(tx.db, organizationId)
        const { count } = await tx.db
          .selectFrom('role_mappings')
          .select((eb) => eb.fn.countAll<number>().as('count'))
          .where('organization_id', '=', organizationId)
          .executeTakeFirstOrThrow()
        if (Number(count) >= MAX_ROLE_MAPPINGS)
          throw conflict(
            'organization_limit_reached',
            `An organization can have ${MAX_ROLE_MAPPINGS} mappings.`,
          )
        if (group_id !== null) {
          const group = await tx.db
            .selectFrom('organization_groups')
            .select('id')
            .where('organization_id', '=', organizationId)
            .where('id', '=', group_id)
            .executeTakeFirst()
          if (!group) throw notFound('Group')
        }
        return await tx.db
          .insertInto('role_mappings')
          .values({
            id: randomUUID(),
            organization_id: organizationId,
            name,
            role,
            group_id,
            created_at: now(),
          })
          .returningAll()
          .executeTakeFirstOrThrow()
      }).catch((cause) => {
        if (uniqueViolation(cause) === 'one_mapping_per_name')
          throw conflict('mapping_exists', 'The organization has a mapping for this name. Remove it first.')
        throw cause
      }),

    /** Removes a mapping. @throws 404 */
    async removeMapping(organizationId: string, id: string): Promise<void> {
      const removed = await db
        .deleteFrom('role_mappings')
        .where('id', '=', id)
        .where('organization_id', '=', organizationId)
        .returning('id')
        .executeTakeFirst()
      if (!removed) throw notFound('Role mapping')
    },
  }
}
export type ScimTokens = ReturnType<typeof createScimTokens>

/** Makes concurrent requests that count rows of an organization wait for each other. */
const lockOrganization = (db: Db, id: string) =>
  db.selectFrom('organizations').select('id').where('id', '=', id).forNoKeyUpdate().execute()
