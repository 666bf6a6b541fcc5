import { randomUUID } from 'node:crypto'
import { type Expression, type ExpressionBuilder, type Selectable, type SqlBool, sql } from 'kysely'
import { type AuditEvent, audit } from '../../../core/audit/audit.ts'
import { createBatchLoader } from '../../../core/database/batch-loader.ts'
import { compiled } from '../../../core/database/compiled.ts'
import type { Db, Tables } from '../../../core/database/tables.ts'
import { conflict, notFound, unauthorized } from '../../../core/errors/errors.ts'
import type { Bus } from '../../../core/events/bus.ts'
import type { Transact } from '../../../core/events/transactor.ts'
import type { CreateApiKey } from './api-key.schema.ts'
import { generateApiKey, hashApiKey, looksLikeApiKey } from './api-key-format.ts'

export type ApiKeyRow = Selectable<Tables['api_keys']>

/** Maximum number of usable keys of a user. A list contains at most as many unusable keys. */
const KEY_LIMIT = 100
/** Resolution of `last_used_at`. A busy key causes one write per minute instead of one per request. */
const USE_RESOLUTION_MS = 60_000
/** The least time between two statements that record uses. */
const USE_INTERVAL_MS = 100
/** Maximum number of keys that one statement reads or updates. */
const MAX_KEYS_PER_STATEMENT = 500
const PREFIX_SHOWN = 'svc_live_'.length + 4

/** Selects the users of key hashes. It runs for every request that has an API key. */
const findKeyHolders = compiled<{ hashes: readonly string[] }>()((db, param) =>
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
    .select(['users.suspended_at', 'users.suspension_reason'])
    .select(sql<boolean>`api_keys.expires_at <= now()`.as('expired'))
    .where('api_keys.hash', '=', sql<string>`any(${param('hashes')}::text[])`),
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
    key: Pick<ApiKeyRow, 'id' | 'user_id' | 'organization_id' | 'name'>,
  ): AuditEvent => ({
    at: now(),
    organizationId: key.organization_id,
    actorId: key.user_id,
    credential: 'session', // the routes of keys take no other
    action,
    subject: ['api_key', key.id],
    data: { name: key.name },
  })

  const loadHolder = createBatchLoader(
    async (hashes: readonly string[]) => {
      const found = new Map((await findKeyHolders(db, { hashes })).map((holder) => [holder.hash, holder]))
      return hashes.map((hash) => found.get(hash))
    },
    { maxBatchSize: MAX_KEYS_PER_STATEMENT },
  )

  /** Records the use of keys, at most ten times a second. Skips rows that another process has locked. */
  const writeUses = async (ids: readonly string[]) => {
    await db
      .updateTable('api_keys')
      .set({ last_used_at: sql`now()` })
      .where('id', 'in', (eb) =>
        eb
          .selectFrom('api_keys')
          .select('id')
          .where('id', '=', sql<string>`any(${ids}::uuid[])`)
          .where((where) => notUsedSince(where, new Date(Date.now() - USE_RESOLUTION_MS)))
          .forNoKeyUpdate()
          .skipLocked(),
      )
      .execute()
    return ids.map(() => undefined)
  }
  const recordUses = createBatchLoader(writeUses, {
    maxBatchSize: MAX_KEYS_PER_STATEMENT,
    intervalMs: USE_INTERVAL_MS,
  })
  const recordUse = (id: string) => {
    const recording = recordUses(id)
      .catch(report)
      .finally(() => pendingUses.delete(recording))
    pendingUses.add(recording)
  }

  return {
    /** Creates a key. @throws 409 if the user has the maximum number of usable keys. */
    async create(
      userId: string,
      organizationId: string,
      input: CreateApiKey,
    ): Promise<ApiKeyRow & { key: string }> {
      const key = generateApiKey()
      const row = await transact(async (tx) => {
        const { db: trx } = tx
        // Locks the user's row, so that concurrent requests cannot exceed the limit.
        await trx.selectFrom('users').select('id').where('id', '=', userId).forNoKeyUpdate().execute()
        const { count } = await trx
          .selectFrom('api_keys')
          .select((eb) => eb.fn.countAll<number>().as('count'))
          .where('user_id', '=', userId)
          .where(isUsable)
          .executeTakeFirstOrThrow()
        if (Number(count) >= KEY_LIMIT)
          throw conflict(
            'api_key_limit_reached',
            `You have ${KEY_LIMIT} API keys, which is the maximum. Revoke a key first.`,
          )
        const created = await trx
          .insertInto('api_keys')
          .values({
            id: randomUUID(),
            user_id: userId,
            organization_id: organizationId,
            name: input.name,
            hash: hashApiKey(key),
            prefix: key.slice(0, PREFIX_SHOWN),
            last4: key.slice(-4),
            expires_at: input.expires_at ?? null,
          })
          .returningAll()
          .executeTakeFirstOrThrow()
        await audit(tx, auditEventOf('api_key.created', created))
        return created
      })
      return { ...row, key }
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
    async revoke(userId: string, id: string): Promise<void> {
      await transact(async (tx) => {
        const revoked = await tx.db
          .updateTable('api_keys')
          .set({ revoked_at: sql`now()` })
          .where('id', '=', id)
          .where('user_id', '=', userId)
          .where('revoked_at', 'is', null)
          .returning(['id', 'user_id', 'organization_id', 'name'])
          .executeTakeFirst()
        if (revoked) return await audit(tx, auditEventOf('api_key.revoked', revoked))
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
     * @throws 401 if the key is not valid, revoked or expired.
     */
    async resolveKey(raw: string) {
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
      if (!last_used_at || last_used_at.getTime() < Date.now() - USE_RESOLUTION_MS) recordUse(found.keyId)
      const { organization_id: id, role, group_ids: groupIds } = found
      return { ...found, organization: { id, role, groupIds } }
    },

    /**
     * Returns the ids of keys revoked in the last `ms` milliseconds, for callers that must not miss a lost bus message. Add
     * a margin for transactions that commit late.
     */
    async revokedWithin(ms: number): Promise<string[]> {
      const rows = await db
        .selectFrom('api_keys')
        .select('id')
        .where('revoked_at', '>=', sql<Date>`now() - ${ms} * interval '1 millisecond'`)
        .execute()
      return rows.map((row) => row.id)
    },

    /** Waits for pending writes of `last_used_at`, so that the database can be closed. */
    flush: async (): Promise<void> => {
      await Promise.all(pendingUses)
    },
  }
}
export type ApiKeys = ReturnType<typeof createApiKeys>

type Where = ExpressionBuilder<Tables, 'api_keys'>

const isUsable = (where: Where): Expression<SqlBool> =>
  where.and([
    where('revoked_at', 'is', null),
    where.or([where('expires_at', 'is', null), where('expires_at', '>', sql<Date>`now()`)]),
  ])

const notUsedSince = (where: Where, moment: Date): Expression<SqlBool> =>
  where.or([where('last_used_at', 'is', null), where('last_used_at', '<', moment)])
