import { randomUUID } from 'node:crypto'
import type { ApiKeyScope } from '@wheelhouse/protocol'
import { sql } from 'kysely'
import { audit } from '../../../core/audit/audit.ts'
import type { Db } from '../../../core/database/tables.ts'
import { conflict, forbidden, notFound } from '../../../core/errors/errors.ts'
import type { Bus } from '../../../core/events/bus.ts'
import type { Transact, Tx } from '../../../core/events/transactor.ts'
import type { Caller } from '../../../core/http/endpoint.ts'
import { credentialOf, scopesOf } from '../../../core/permissions/authorization.ts'
import type { ApiKeyRow, ApiKeys, CreatedKeyRow } from '../api-keys/api-key.service.ts'
import type {
  ChangeServiceAccount,
  CreateServiceAccount,
  CreateServiceKey,
  ServiceRole,
} from './service-account.schema.ts'

/** The issuer of programs. No identity provider has it, so nobody signs in as a program. */
const ISSUER = 'urn:wheelhouse:service-account'
/** Maximum number of service accounts of an organization. */
const MAX_ACCOUNTS = 100
/** Maximum number of usable keys of a service account. */
const MAX_ACCOUNT_KEYS = 20
const DAY_MS = 86_400_000

export interface ServiceAccountRow {
  readonly id: string
  readonly name: string
  readonly role: ServiceRole
  readonly group_ids: string[] | null
  readonly created_at: Date
  readonly keys: number
  readonly last_used_at: Date | null
}

type Actor = Pick<Caller, 'userId' | 'organization' | 'credential'>

/** Creates the service of service accounts: the programs of an organization, each a user without a sign-in, and their keys. */
export function createServiceAccounts(deps: {
  db: Db
  transact: Transact
  bus: Bus
  now: () => Date
  apiKeys: ApiKeys
}) {
  const { db, transact, bus, now, apiKeys } = deps

  /** Selects programs that are members. A removed one remains as the name of what it has done. */
  const accountsOf = (from: Db, organizationId: string) =>
    from
      .selectFrom('users')
      .innerJoin('organization_members as member', 'member.user_id', 'users.id')
      .select([
        'users.id',
        'users.display_name as name',
        'member.role',
        'member.group_ids',
        'users.created_at',
      ])
      .select(
        sql<number>`(select count(*)::int from api_keys where api_keys.user_id = users.id
          and revoked_at is null and (expires_at is null or expires_at > now()))`.as('keys'),
      )
      .select(
        sql<Date | null>`(select max(last_used_at) from api_keys where api_keys.user_id = users.id)`.as(
          'last_used_at',
        ),
      )
      .where('users.service_of_id', '=', organizationId)
      .where('member.organization_id', '=', organizationId)
      .$narrowType<{ role: ServiceRole }>()

  /** @throws 404 for an unknown account and for one of another organization */
  async function get(organizationId: string, id: string, from: Db = db): Promise<ServiceAccountRow> {
    const found = await accountsOf(from, organizationId).where('users.id', '=', id).executeTakeFirst()
    if (!found) throw notFound('Service account')
    return found
  }

  const note = (tx: Tx, action: string, actor: Actor, id: string, data: Record<string, unknown>) =>
    audit(tx, {
      at: now(),
      organizationId: actor.organization.id,
      actorId: actor.userId,
      credential: credentialOf(actor),
      action,
      subject: ['service_account', id],
      data,
    })

  return {
    /** Returns all service accounts of an organization, newest first. There are few: see the limit. */
    list: (organizationId: string): Promise<ServiceAccountRow[]> =>
      accountsOf(db, organizationId)
        .orderBy('users.created_at', 'desc')
        .orderBy('users.id', 'desc')
        .execute(),

    /** @throws 404 for a group that is not the organization's, 409 at the limit */
    create: (actor: Actor, input: CreateServiceAccount): Promise<ServiceAccountRow> =>
      transact(async (tx) => {
        const organizationId = actor.organization.id
        // Concurrent requests wait for each other, so that they cannot exceed the limit.
        await tx.db
          .selectFrom('organizations')
          .select('id')
          .where('id', '=', organizationId)
          .forNoKeyUpdate()
          .executeTakeFirstOrThrow()
        if ((await accountsOf(tx.db, organizationId).execute()).length >= MAX_ACCOUNTS)
          throw conflict(
            'service_account_limit_reached',
            `The organization has ${MAX_ACCOUNTS} service accounts, which is the maximum. Remove one first.`,
          )
        await requireGroups(tx, organizationId, input.group_ids)
        const id = randomUUID()
        const program = {
          id,
          issuer: ISSUER,
          subject: id,
          display_name: input.name,
          display_name_chosen: true,
        }
        await tx.db
          .insertInto('users')
          .values({ ...program, service_of_id: organizationId })
          .execute()
        const { name, role, group_ids } = input
        await tx.db
          .insertInto('organization_members')
          .values({ organization_id: organizationId, user_id: id, role, group_ids })
          .execute()
        await note(tx, 'service_account.created', actor, id, { name, role, group_ids })
        return await get(organizationId, id, tx.db)
      }),

    /** Changes a service account. Its sockets reconnect with the new permissions. @throws 404 */
    async change(actor: Actor, id: string, change: ChangeServiceAccount): Promise<ServiceAccountRow> {
      const organizationId = actor.organization.id
      const { name, ...membership } = change
      const changed = await transact(async (tx) => {
        await get(organizationId, id, tx.db)
        await requireGroups(tx, organizationId, change.group_ids ?? null)
        if (name !== undefined)
          await tx.db.updateTable('users').set({ display_name: name }).where('id', '=', id).execute()
        if (Object.keys(membership).length > 0)
          await tx.db
            .updateTable('organization_members')
            .set(membership)
            .where('organization_id', '=', organizationId)
            .where('user_id', '=', id)
            .execute()
        await note(tx, 'service_account.changed', actor, id, change)
        return await get(organizationId, id, tx.db)
      })
      bus.publish('permissions.lost', { userId: id, suspended: false })
      return changed
    },

    /** Removes a service account: its membership and keys end at once. @throws 404 */
    async remove(actor: Actor, id: string): Promise<void> {
      const organizationId = actor.organization.id
      await transact(async (tx) => {
        const { name } = await get(organizationId, id, tx.db)
        await tx.db
          .updateTable('api_keys')
          .set({ revoked_at: sql`now()` })
          .where('user_id', '=', id)
          .where('revoked_at', 'is', null)
          .execute()
        await tx.db
          .deleteFrom('organization_members')
          .where('organization_id', '=', organizationId)
          .where('user_id', '=', id)
          .execute()
        await note(tx, 'service_account.removed', actor, id, { name })
      })
      bus.publish('permissions.lost', { userId: id, suspended: false })
    },

    /** Returns the keys of a service account, newest first. @throws 404 */
    async keys(organizationId: string, id: string): Promise<ApiKeyRow[]> {
      await get(organizationId, id)
      return await apiKeys.list(id)
    },

    /** @throws 403 if the key of the caller lacks one of the scopes, 404, 409 at the limit */
    async createKey(actor: Actor, id: string, input: CreateServiceKey): Promise<CreatedKeyRow> {
      requireOwnScopes(actor, input.scopes)
      const organizationId = actor.organization.id
      return await transact(async (tx) => {
        const { name } = await get(organizationId, id, tx.db)
        return await apiKeys.insert(tx, actor.userId, {
          userId: id,
          organizationId,
          name: input.name ?? name,
          scopes: input.scopes,
          expiresAt: new Date(now().getTime() + input.expiresInDays * DAY_MS),
          limit: MAX_ACCOUNT_KEYS,
        })
      })
    },

    /** @throws 403 if the key of the caller lacks one of the scopes, 404, 409 if the key has ended or was rotated before */
    async rotateKey(actor: Actor, id: string, keyId: string, overlapHours: number): Promise<CreatedKeyRow> {
      await get(actor.organization.id, id)
      const allow = (scopes: readonly ApiKeyScope[] | null) => requireOwnScopes(actor, scopes)
      const rotation = { userId: id, id: keyId, overlapHours, limit: MAX_ACCOUNT_KEYS, allow }
      return await apiKeys.rotate(actor.userId, rotation)
    },

    /** @throws 404 */
    async revokeKey(actor: Actor, id: string, keyId: string): Promise<void> {
      await get(actor.organization.id, id)
      await apiKeys.revoke(id, keyId, actor.userId)
    },
  }
}
export type ServiceAccounts = ReturnType<typeof createServiceAccounts>

/** Requires that a key does not make one that may do more. @throws 403 */
function requireOwnScopes({ credential }: Actor, wanted: readonly ApiKeyScope[] | null): void {
  const own = scopesOf(credential)
  if (own === null || wanted?.every((scope) => own.includes(scope))) return
  throw forbidden('scope_required', `An API key can only create keys with its own scopes: ${own.join(', ')}.`)
}

/** Locks groups, so that they exist until the membership names them. @throws 404 */
async function requireGroups(tx: Tx, organizationId: string, ids: readonly string[] | null): Promise<void> {
  if (ids === null) return
  const found = await tx.db
    .selectFrom('organization_groups')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('id', '=', sql<string>`any(${[...ids]}::uuid[])`)
    .orderBy('id')
    .forKeyShare()
    .execute()
  if (found.length < new Set(ids).size) throw notFound('Group')
}
