import { randomUUID } from 'node:crypto'
import type { ApiKeyScope } from '@wheelhouse/protocol'
import { type Expression, type ExpressionBuilder, type Selectable, type SqlBool, sql } from 'kysely'
import { type AuditEvent, audit } from '../../../core/audit/audit.ts'
import { createBatchLoader } from '../../../core/database/batch-loader.ts'
import { compiled } from '../../../core/database/compiled.ts'
import { iso } from '../../../core/database/iso.ts'
import type { Db, Tables } from '../../../core/database/tables.ts'
import { conflict, notFound, unauthorized, uniqueViolation } from '../../../core/errors/errors.ts'
import type { Bus } from '../../../core/events/bus.ts'
import type { NewNotification } from '../../../core/events/new-notification.ts'
import type { Transact, Tx } from '../../../core/events/transactor.ts'
import type { ApiKeyView, CreateApiKey } from './api-key.schema.ts'
import { generateApiKey, hashApiKey, looksLikeApiKey } from './api-key-format.ts'

export type ApiKeyRow = Selectable<Tables['api_keys']>
/** A new key, with the key itself, which is not stored. */
export type CreatedKeyRow = ApiKeyRow & { readonly key: string }

interface KeyUse {
  readonly id: string
  readonly address: string | undefined
}

/** A key that is to be created. */
export interface NewKey {
  readonly userId: string
  readonly organizationId: string
  readonly name: string
  readonly scopes?: ApiKeyScope[] | null | undefined
  readonly expiresAt: Date | null
  readonly replacesId?: string
  /** The maximum number of usable keys of the user. */
  readonly limit: number
}

export interface KeyRotation extends Pick<NewKey, 'userId' | 'limit'> {
  readonly id: string
  readonly overlapHours: number
  /** Throws if the caller may not create a key with these scopes. */
  readonly allow: (scopes: readonly ApiKeyScope[] | null) => void
}

/** Maximum number of usable keys of a user. A list contains at most as many unusable keys. */
const KEY_LIMIT = 100
/** Resolution of `last_used_at`. A busy key causes one write per minute instead of one per request. */
const USE_RESOLUTION_MS = 60_000
/** The least time between two statements that record uses. */
const USE_INTERVAL_MS = 100
/** Maximum number of keys that one statement reads or updates. */
const MAX_KEYS_PER_STATEMENT = 500
/** A key is reported when nobody has used it for this long. */
const UNUSED_DAYS = 90
const DAY_MS = 86_400_000
const PREFIX_SHOWN = 'svc_live_'.length + 4

/** Selects the users of key hashes. It runs for every request that has an API key. */
const findKeyHolders = compiled<{ hashes: readonly string[] }>()((db, _param, oneOf) =>
  db
    .selectFrom('api_keys')
    .innerJoin('users', 'users.id', 'api_keys.user_id')
    .leftJoin('organization_members as member', (join) =>
      join
        .onRef('member.organization_id', '=', 'api_keys.organization_id')
        .onRef('member.user_id', '=', 'api_keys.user_id'),
    )
    .select('api_keys.hash')
    .select(['api_keys.organization_id', 'api_keys.scopes', 'member.role', 'member.group_ids'])
    .select(['api_keys.id as keyId', 'api_keys.last_used_at', 'api_keys.revoked_at', 'api_keys.expires_at'])
    .select(['users.id as userId', 'users.display_name', 'users.email', 'users.email_verified'])
    .select(['users.is_client', 'users.is_operator', 'users.permissions_version'])
    .select(['users.suspended_at', 'users.suspension_reason', 'users.service_of_id'])
    .select(sql<boolean>`api_keys.expires_at <= now()`.as('expired'))
    .where('api_keys.hash', '=', oneOf('hashes', 'text')),
)

/** Creates the API key service: create, list, revoke and resolve keys. */
export function createApiKeys(deps: {
  db: Db
  transact: Transact
  bus: Bus
  now: () => Date
  report: (cause: unknown) => void
}) {
  const { db, transact, bus, now, report } = deps
  const pendingUses = new Set<Promise<unknown>>()

  const auditEventOf = (
    action: string,
    key: Pick<ApiKeyRow, 'id' | 'organization_id' | 'name'>,
    actorId: string,
    data: Record<string, unknown> = {},
  ): AuditEvent => ({
    at: now(),
    organizationId: key.organization_id,
    actorId,
    action,
    subject: ['api_key', key.id],
    data: { name: key.name, ...data },
  })

  const loadHolder = createBatchLoader(
    async (hashes: readonly string[]) => {
      const found = new Map((await findKeyHolders(db, { hashes })).map((holder) => [holder.hash, holder]))
      return hashes.map((hash) => found.get(hash))
    },
    { maxBatchSize: MAX_KEYS_PER_STATEMENT },
  )

  const loadScopes = createBatchLoader(
    async (ids: readonly string[]) => {
      const rows = await db
        .selectFrom('api_keys')
        .select(['id', 'scopes'])
        .where('id', '=', sql<string>`any(${ids}::uuid[])`)
        .where(isUsable)
        .execute()
      const found = new Map(rows.map(({ id, scopes }) => [id, scopes]))
      return ids.map((id) => found.get(id))
    },
    { maxBatchSize: MAX_KEYS_PER_STATEMENT },
  )

  /** Records the use of keys, at most ten times a second. Skips rows that another process has locked. */
  const writeUses = async (uses: readonly KeyUse[]) => {
    await sql`
      update api_keys set last_used_at = now(), reported_unused_at = null,
        last_used_address = coalesce(used.address, api_keys.last_used_address)
      from (
        select k.id, use.address
        from unnest(${uses.map(({ id }) => id)}::uuid[], ${uses.map(({ address }) => address ?? null)}::text[]) as use (id, address)
        join api_keys k on k.id = use.id
        where k.last_used_at is null or k.last_used_at < ${new Date(Date.now() - USE_RESOLUTION_MS)}
        for no key update of k skip locked
      ) as used
      where api_keys.id = used.id`.execute(db)
    return uses.map(() => undefined)
  }
  const recordUses = createBatchLoader(writeUses, {
    maxBatchSize: MAX_KEYS_PER_STATEMENT,
    intervalMs: USE_INTERVAL_MS,
  })
  const recordUse = (use: KeyUse) => {
    const recording = recordUses(use)
      .catch(report)
      .finally(() => pendingUses.delete(recording))
    pendingUses.add(recording)
  }

  /**
   * Inserts a key while the row of its user is locked, so that concurrent requests cannot exceed the limit.
   * @throws 404 if the user does not exist, 409 if the user has the maximum number of usable keys
   */
  async function insert(tx: Tx, actorId: string, { limit, ...input }: NewKey): Promise<CreatedKeyRow> {
    const user = await tx.db
      .selectFrom('users')
      .select('id')
      .where('id', '=', input.userId)
      .forNoKeyUpdate()
      .executeTakeFirst()
    if (!user) throw notFound('User')
    const { count } = await tx.db
      .selectFrom('api_keys')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('user_id', '=', input.userId)
      .where(isUsable)
      .executeTakeFirstOrThrow()
    if (Number(count) >= limit)
      throw conflict(
        'api_key_limit_reached',
        `There are ${limit} API keys, which is the maximum. Revoke a key first.`,
      )
    const key = generateApiKey()
    const created = await tx.db
      .insertInto('api_keys')
      .values({
        id: randomUUID(),
        user_id: input.userId,
        organization_id: input.organizationId,
        name: input.name,
        hash: hashApiKey(key),
        prefix: key.slice(0, PREFIX_SHOWN),
        last4: key.slice(-4),
        scopes: input.scopes ?? null,
        replaces_id: input.replacesId ?? null,
        expires_at: input.expiresAt,
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    const { scopes, expires_at, replaces_id } = created
    const data = { ...(scopes && { scopes }), ...(expires_at && { expires_at: iso(expires_at) }) }
    await audit(
      tx,
      replaces_id === null
        ? auditEventOf('api_key.created', created, actorId, data)
        : auditEventOf('api_key.rotated', created, actorId, { ...data, replaces_id }),
    )
    return { ...created, key }
  }

  async function reportSome(tx: Tx): Promise<number> {
    const at = now()
    const { rows } = await sql<{
      id: string
      user_id: string
      organization_id: string
      name: string
      service_account: string | null
      since: Date
    }>`
      update api_keys set reported_unused_at = ${at}
      from users
      where users.id = api_keys.user_id and api_keys.id in (
        select id from api_keys
        where revoked_at is null and (expires_at is null or expires_at > ${at}) and reported_unused_at is null
          and coalesce(last_used_at, created_at) <= ${new Date(at.getTime() - UNUSED_DAYS * DAY_MS)}
        order by id limit ${MAX_KEYS_PER_STATEMENT} for no key update skip locked)
      returning api_keys.id, api_keys.user_id, api_keys.organization_id, api_keys.name,
        case when users.service_of_id is not null then users.display_name end as service_account,
        coalesce(api_keys.last_used_at, api_keys.created_at) as since`.execute(tx.db)
    await tx.notify(
      at,
      rows.map(({ id, user_id, organization_id, name, service_account, since }): NewNotification => {
        const key = { api_key_id: id, name, unused_days: daysBetween(since, at) }
        return service_account === null
          ? { userId: user_id, type: 'api_key.unused', data: key }
          : {
              organizationId: organization_id,
              action: 'service_accounts.manage',
              type: 'api_key.unused',
              data: { ...key, service_account_id: user_id, service_account },
            }
      }),
    )
    return rows.length
  }

  return {
    /** Creates a personal key. @throws 409 if the user has the maximum number of usable keys. */
    create: (userId: string, organizationId: string, input: CreateApiKey): Promise<CreatedKeyRow> =>
      transact((tx) =>
        insert(tx, userId, {
          userId,
          organizationId,
          name: input.name,
          scopes: input.scopes,
          expiresAt: input.expires_at ?? null,
          limit: KEY_LIMIT,
        }),
      ),

    /** Creates a key in the caller's transaction. @throws 404, 409 */
    insert,

    /**
     * Creates the successor of a key: with its scopes, and valid for as long as it was. The old one ends after the overlap.
     * @throws 404 if the user has no such key, 409 if it has ended or has a successor
     */
    async rotate(
      actorId: string,
      { userId, id, limit, overlapHours, allow }: KeyRotation,
    ): Promise<CreatedKeyRow> {
      const created = await transact(async (tx) => {
        const old = await tx.db
          .selectFrom('api_keys')
          .selectAll()
          .select(sql<Date | null>`now() + (expires_at - created_at)`.as('next_end'))
          .where('id', '=', id)
          .where('user_id', '=', userId)
          .forNoKeyUpdate()
          .executeTakeFirst()
        if (!old) throw notFound('API key')
        if (isEnded(old, new Date())) throw notRotatable()
        allow(old.scopes)
        await tx.db
          .updateTable('api_keys')
          .set({ expires_at: sql`least(expires_at, now() + ${overlapHours} * interval '1 hour')` })
          .where('id', '=', id)
          .execute()
        const { organization_id: organizationId, name, scopes } = old
        const next = { userId, organizationId, name, scopes, limit, expiresAt: old.next_end, replacesId: id }
        return await insert(tx, actorId, next)
      }).catch((cause) => {
        throw uniqueViolation(cause) === 'one_successor_per_api_key' ? notRotatable() : cause
      })
      if (overlapHours === 0) bus.publish('credential.revoked', { apiKeyId: id })
      return created
    },

    /** Returns all usable keys and the newest unusable ones, newest first. */
    list: (userId: string): Promise<ApiKeyRow[]> =>
      db
        .selectFrom('api_keys')
        .selectAll()
        .where('user_id', '=', userId)
        .where((where) =>
          where.or([
            isUsable(where),
            where(
              'id',
              'in',
              db
                .selectFrom('api_keys')
                .select('id')
                .where('user_id', '=', userId)
                .where((expression) => expression.not(isUsable(expression)))
                .orderBy('created_at', 'desc')
                .limit(KEY_LIMIT),
            ),
          ]),
        )
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .execute(),

    /**
     * Revokes a key on every node. A repeated call has no effect.
     * @throws 404 if the user has no such key.
     */
    async revoke(userId: string, id: string, actorId = userId): Promise<void> {
      await transact(async (tx) => {
        const revoked = await tx.db
          .updateTable('api_keys')
          .set({ revoked_at: sql`now()` })
          .where('id', '=', id)
          .where('user_id', '=', userId)
          .where('revoked_at', 'is', null)
          .returning(['id', 'organization_id', 'name'])
          .executeTakeFirst()
        if (revoked) return await audit(tx, auditEventOf('api_key.revoked', revoked, actorId))
        const known = await tx.db
          .selectFrom('api_keys')
          .select('id')
          .where('id', '=', id)
          .where('user_id', '=', userId)
          .executeTakeFirst()
        if (!known) throw notFound('API key')
      })
      bus.publish('credential.revoked', { apiKeyId: id })
    },

    /**
     * Returns the user of a key. Concurrent calls share a query.
     * @param address the network of the request
     * @throws 401 if the key is not valid, revoked or expired.
     */
    async resolveKey(raw: string, address?: string) {
      if (!looksLikeApiKey(raw))
        throw unauthorized('api_key_invalid', 'The API key is not valid. Check that it is complete.')
      const found = await loadHolder(hashApiKey(raw))
      if (!found)
        throw unauthorized('api_key_invalid', 'The API key is not valid. Check that it is complete.')
      // A key ends with the membership that it acts for.
      if (found.revoked_at || found.role === null)
        throw unauthorized('api_key_revoked', 'The API key has been revoked. Use another one.')
      if (found.expired) throw unauthorized('api_key_expired', 'The API key has expired. Create another one.')
      const { last_used_at } = found
      if (!last_used_at || last_used_at.getTime() < Date.now() - USE_RESOLUTION_MS)
        recordUse({ id: found.keyId, address })
      const { organization_id: id, role, group_ids: groupIds } = found
      return { ...found, organization: { id, role, groupIds } }
    },

    /** Returns what a key may be used for; null for everything. A key that has ended or does not exist has no scope. */
    async scopesOf(id: string): Promise<readonly ApiKeyScope[] | null> {
      const scopes = await loadScopes(id)
      return scopes === undefined ? [] : scopes
    },

    /**
     * Returns the ids of keys that were revoked or have expired in the last `ms` milliseconds, for callers that must not miss a lost
     * bus message, and those that know an earlier end of a rotated key. Add a margin for transactions that commit late.
     */
    async revokedWithin(ms: number): Promise<string[]> {
      const { rows } = await sql<{ id: string }>`
        select id from api_keys where revoked_at >= now() - ${ms} * interval '1 millisecond'
        union all
        select id from api_keys where expires_at > now() - ${ms} * interval '1 millisecond' and expires_at <= now()`.execute(
        db,
      )
      return rows.map((row) => row.id)
    },

    /**
     * Notifies about usable keys that are unused for 90 days, once until the next use: the user of a personal key, and those who
     * manage service accounts.
     */
    async reportUnused(): Promise<void> {
      while ((await transact(reportSome)) === MAX_KEYS_PER_STATEMENT);
    },

    /** Waits for pending writes of `last_used_at`, so that the database can be closed. */
    flush: async (): Promise<void> => {
      await Promise.all(pendingUses)
    },
  }
}
export type ApiKeys = ReturnType<typeof createApiKeys>

/** Returns a key as lists show it, without the key itself. Fields that older programs do not know are shown only if they are set. */
export const apiKeyView = (row: ApiKeyRow): ApiKeyView => ({
  id: row.id,
  name: row.name,
  prefix: row.prefix,
  last4: row.last4,
  created_at: iso(row.created_at),
  last_used_at: iso(row.last_used_at),
  expires_at: iso(row.expires_at),
  revoked_at: iso(row.revoked_at),
  ...(row.scopes && { scopes: row.scopes }),
  ...(row.last_used_address !== null && { last_used_address: row.last_used_address }),
  ...(row.replaces_id !== null && { replaces_id: row.replaces_id }),
  ...(row.reported_unused_at && { unused_days: unusedDays(row, new Date()) }),
})

const notRotatable = () =>
  conflict('api_key_not_rotatable', 'The API key has ended or was rotated before. Create a new key.')

/** Returns whether a key has been revoked or has expired. */
export const isEnded = ({ revoked_at, expires_at }: ApiKeyRow, at: Date): boolean =>
  revoked_at !== null || (expires_at !== null && expires_at <= at)

/** Returns for how many days nobody has used a key. */
export const unusedDays = ({ last_used_at, created_at }: ApiKeyRow, at: Date): number =>
  Math.max(0, daysBetween(last_used_at ?? created_at, at))

type Where = ExpressionBuilder<Tables, 'api_keys'>

const isUsable = (where: Where): Expression<SqlBool> =>
  where.and([
    where('revoked_at', 'is', null),
    where.or([where('expires_at', 'is', null), where('expires_at', '>', sql<Date>`now()`)]),
  ])

const daysBetween = (from: Date, to: Date) => Math.floor((to.getTime() - from.getTime()) / DAY_MS)
