import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { audit } from '../../core/audit/audit.ts'
import type { Db } from '../../core/database/tables.ts'
import { badRequest, conflict, notFound } from '../../core/errors/errors.ts'
import type { Transact, Tx } from '../../core/events/transactor.ts'
import type { Secrets } from '../../core/secrets.ts'
import { TargetRefused, type Targets } from './target.ts'
import type { DisabledReason } from './webhook.entity.ts'
import type { CreateWebhook, UpdateWebhook } from './webhook.schema.ts'
import type { WebhookRow } from './webhook.view.ts'
import { generateSecret } from './webhook-signature.ts'

/** Webhooks of one user. */
const WEBHOOK_LIMIT = 10
/** How long the secret before the newest signs too. */
const OVERLAP_MS = 24 * 3_600_000
/** What secrets of webhooks are sealed for, in the database. */
export const SECRET_PURPOSE = 'webhook'

/** A user's webhooks: making, changing and removing them. */
export function createWebhooks(deps: {
  db: Db
  transact: Transact
  secrets: Secrets
  targets: Targets
  now: () => Date
}) {
  const { db, transact, secrets, targets, now } = deps
  const seal = (secret: string, webhookId: string) => secrets.seal(SECRET_PURPOSE, secret, webhookId)

  /** No transaction is open while the name is resolved. */
  async function checkUrl(url: string): Promise<void> {
    try {
      await targets.check(url)
    } catch (cause) {
      if (cause instanceof TargetRefused) throw badRequest(`url: ${cause.message}`)
      throw cause
    }
  }

  const auditWebhook = (tx: Tx, action: string, webhook: WebhookRow) =>
    audit(tx, {
      at: now(),
      actorId: webhook.user_id,
      action: `webhook.${action}`,
      subject: ['webhook', webhook.id],
      data: { host: new URL(webhook.url).host },
    })

  /** @throws 404 unknown or somebody else's. */
  async function get(userId: string, id: string): Promise<WebhookRow> {
    const row = await db
      .selectFrom('webhooks')
      .selectAll()
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .executeTakeFirst()
    if (!row) throw notFound('Webhook')
    return row
  }

  return {
    /**
     * Answers with the secret, which is not shown again.
     * @throws 400 for a URL that may not be a target, 409 when there are as many as one may have
     */
    async create(userId: string, input: CreateWebhook): Promise<{ row: WebhookRow; secret: string }> {
      await checkUrl(input.url)
      const [id, secret] = [randomUUID(), generateSecret()]
      const row = await transact(async (tx) => {
        // The user's row is the queue: two creations at once cannot both take the last place.
        await tx.db.selectFrom('users').select('id').where('id', '=', userId).forNoKeyUpdate().execute()
        const { count } = await tx.db
          .selectFrom('webhooks')
          .select((eb) => eb.fn.countAll<number>().as('count'))
          .where('user_id', '=', userId)
          .executeTakeFirstOrThrow()
        if (Number(count) >= WEBHOOK_LIMIT)
          throw conflict(
            'webhook_limit_reached',
            `You have ${WEBHOOK_LIMIT} webhooks, the most that are possible. Remove one first.`,
          )
        const created = await tx.db
          .insertInto('webhooks')
          .values({ id, user_id: userId, ...input, secret: seal(secret, id), created_at: now() })
          .returningAll()
          .executeTakeFirstOrThrow()
        await auditWebhook(tx, 'created', created)
        return created
      })
      return { row, secret }
    },

    list: (userId: string): Promise<WebhookRow[]> =>
      db
        .selectFrom('webhooks')
        .selectAll()
        .where('user_id', '=', userId)
        .orderBy('created_at', 'desc')
        .orderBy('id')
        .execute(),

    get,

    /** @throws 404; 400 for a URL that may not be a target */
    async update(userId: string, id: string, change: UpdateWebhook): Promise<WebhookRow> {
      const { enabled, ...fields } = change
      await get(userId, id) // whoever has no such webhook has no names resolved
      if (fields.url !== undefined) await checkUrl(fields.url)
      return await transact(async (tx) => {
        const before = await lockWebhook(tx, userId, id)
        if (enabled === false) await disable(tx, before, 'user', now())
        return await tx.db
          .updateTable('webhooks')
          .set({
            ...fields,
            // Another receiver, or one that was repaired: it is tried as if nothing had been wrong.
            ...((fields.url !== undefined || enabled) && {
              failing_since: null,
              failures: 0,
              paused_until: null,
            }),
            enabled: enabled ?? before.enabled,
            ...(enabled && { disabled_reason: null, disabled_at: null }),
          })
          .where('id', '=', id)
          .where('user_id', '=', userId)
          .returningAll()
          .executeTakeFirstOrThrow()
      })
    },

    /** Removes a webhook with its deliveries. An attempt that is under way may still arrive. */
    remove: (userId: string, id: string): Promise<void> =>
      transact(async (tx) => {
        const row = await tx.db
          .deleteFrom('webhooks')
          .where('id', '=', id)
          .where('user_id', '=', userId)
          .returningAll()
          .executeTakeFirst()
        if (!row) throw notFound('Webhook')
        await auditWebhook(tx, 'deleted', row)
      }),

    /** Replaces the secret; the old one signs too for a day, unless it is not to be kept. */
    async rotate(userId: string, id: string, keepOld: boolean): Promise<{ row: WebhookRow; secret: string }> {
      const secret = generateSecret()
      const row = await transact(async (tx) => {
        const rotated = await tx.db
          .updateTable('webhooks')
          .set((eb) => ({
            secret: seal(secret, id),
            old_secret: keepOld ? eb.ref('secret') : null,
            old_secret_until: keepOld ? new Date(now().getTime() + OVERLAP_MS) : null,
          }))
          .where('id', '=', id)
          .where('user_id', '=', userId)
          .returningAll()
          .executeTakeFirst()
        if (!rotated) throw notFound('Webhook')
        await auditWebhook(tx, 'secret_rotated', rotated)
        return rotated
      })
      return { row, secret }
    },
  }
}
export type Webhooks = ReturnType<typeof createWebhooks>

/** @throws 404 unknown or somebody else's. */
export async function lockWebhook(tx: Tx, userId: string, id: string): Promise<WebhookRow> {
  const row = await tx.db
    .selectFrom('webhooks')
    .selectAll()
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (!row) throw notFound('Webhook')
  return row
}

/** Switches off a webhook that the caller has locked, and gives up what waits for it. */
export async function disable(tx: Tx, webhook: WebhookRow, reason: DisabledReason, at: Date): Promise<void> {
  if (!webhook.enabled) return
  await tx.db
    .updateTable('webhooks')
    .set({ enabled: false, disabled_reason: reason, disabled_at: at, due_at: null, paused_until: null })
    .where('id', '=', webhook.id)
    .execute()
  await tx.db
    .updateTable('webhook_deliveries')
    .set({
      status: 'FAILED',
      settled_at: at,
      next_attempt_at: null,
      error: sql<string>`coalesce(error || '; ', '') || 'the webhook was disabled'`,
    })
    .where('webhook_id', '=', webhook.id)
    .where('status', '=', 'PENDING')
    .execute()
}
