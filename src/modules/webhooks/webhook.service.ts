import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { audit } from '../../core/audit/audit.ts'
import type { Db } from '../../core/database/tables.ts'
import { badRequest, conflict, notFound } from '../../core/errors/errors.ts'
import type { Transact, Tx } from '../../core/events/transactor.ts'
import type { Scope } from '../../core/permissions/authorization.ts'
import type { Secrets } from '../../core/secrets.ts'
import { scheduleTurn } from './delivery-queue.ts'
import { subscribe } from './event-subscription.ts'
import { TargetRefused, type Targets } from './target.ts'
import type { DisabledReason } from './webhook.entity.ts'
import type { CreateWebhook, UpdateWebhook } from './webhook.schema.ts'
import type { WebhookRow } from './webhook.view.ts'
import { generateSecret } from './webhook-signature.ts'

/** Maximum number of webhooks of a user. */
const WEBHOOK_LIMIT = 10
/** How long the previous secret also signs. */
const OVERLAP_MS = 24 * 3_600_000
/** The purpose with which webhook secrets are encrypted in the database. */
export const SECRET_PURPOSE = 'webhook'

/** Creates the webhook service: create, change, rotate and remove webhooks. */
export function createWebhooks(deps: {
  db: Db
  transact: Transact
  secrets: Secrets
  targets: Targets
  now: () => Date
}) {
  const { db, transact, secrets, targets, now } = deps
  const seal = (secret: string, webhookId: string) => secrets.seal(SECRET_PURPOSE, secret, webhookId)

  /** Validates a URL. Call it outside a transaction, because it resolves the name. */
  async function checkUrl(url: string): Promise<void> {
    try {
      await targets.check(url)
    } catch (cause) {
      if (cause instanceof TargetRefused) throw badRequest(`url: ${cause.message}`)
      throw cause
    }
  }

  const auditWebhook = (tx: Tx, scope: Scope, action: string, webhook: WebhookRow) =>
    audit(tx, {
      at: now(),
      organizationId: webhook.user_id,
      actorId: scope.actorId,
      credential: scope.credential,
      action: `webhook.${action}`,
      subject: ['webhook', webhook.id],
      data: { host: new URL(webhook.url).host },
    })

  /** Returns a webhook. @throws 404 if the user has no such webhook */
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
     * Creates a webhook and returns its secret, which cannot be read again.
     * @throws 400 if the URL is not allowed, 409 if the user has the maximum number of webhooks
     */
    async create(scope: Scope, input: CreateWebhook): Promise<{ row: WebhookRow; secret: string }> {
      const userId = scope.organizationId
      await checkUrl(input.url)
      const [id, secret] = [randomUUID(), generateSecret()]
      const row = await transact(async (tx) => {
        await subscribe(tx.db, userId, now())
        // Locks the user's row, so that concurrent requests cannot exceed the limit.
        await tx.db
          .selectFrom('organizations')
          .select('id')
          .where('id', '=', userId)
          .forNoKeyUpdate()
          .execute()
        const { count } = await tx.db
          .selectFrom('webhooks')
          .select((eb) => eb.fn.countAll<number>().as('count'))
          .where('user_id', '=', userId)
          .executeTakeFirstOrThrow()
        if (Number(count) >= WEBHOOK_LIMIT)
          throw conflict(
            'webhook_limit_reached',
            `You have ${WEBHOOK_LIMIT} webhooks, which is the maximum. Remove a webhook first.`,
          )
        const created = await tx.db
          .insertInto('webhooks')
          .values({ id, user_id: userId, ...input, secret: seal(secret, id), created_at: now() })
          .returningAll()
          .executeTakeFirstOrThrow()
        await auditWebhook(tx, scope, 'created', created)
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

    /** Changes a webhook. @throws 404 if the user has no such webhook, 400 if the URL is not allowed */
    async update(userId: string, id: string, change: UpdateWebhook): Promise<WebhookRow> {
      const { enabled, ...fields } = change
      await get(userId, id) // resolves names only for the owner of the webhook
      if (fields.url !== undefined) await checkUrl(fields.url)
      return await transact(async (tx) => {
        if (enabled) await subscribe(tx.db, userId, now())
        const before = await lockWebhook(tx, userId, id)
        if (enabled === false) await disable(tx, before, 'user', now())
        const changed = await tx.db
          .updateTable('webhooks')
          .set({
            ...fields,
            // A new URL or a re-enabled webhook starts without earlier failures.
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
        if (changed.enabled) await scheduleTurn(tx, id, now()) // its pause may have ended
        return changed
      })
    },

    /** Removes a webhook with its deliveries. A running attempt may still arrive. */
    remove: (scope: Scope, id: string): Promise<void> =>
      transact(async (tx) => {
        const row = await tx.db
          .deleteFrom('webhooks')
          .where('id', '=', id)
          .where('user_id', '=', scope.organizationId)
          .returningAll()
          .executeTakeFirst()
        if (!row) throw notFound('Webhook')
        await auditWebhook(tx, scope, 'deleted', row)
      }),

    /** Replaces the secret. With `keepOld`, the old secret also signs for a day. */
    async rotate(scope: Scope, id: string, keepOld: boolean): Promise<{ row: WebhookRow; secret: string }> {
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
          .where('user_id', '=', scope.organizationId)
          .returningAll()
          .executeTakeFirst()
        if (!rotated) throw notFound('Webhook')
        await auditWebhook(tx, scope, 'secret_rotated', rotated)
        return rotated
      })
      return { row, secret }
    },
  }
}
export type Webhooks = ReturnType<typeof createWebhooks>

/** Locks and returns a webhook. @throws 404 if the user has no such webhook */
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

/** Disables a webhook that the caller has locked, and fails its pending deliveries. */
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
      error: sql<string>`coalesce(error || '; ', '') || 'The webhook was disabled'`,
    })
    .where('webhook_id', '=', webhook.id)
    .where('status', '=', 'PENDING')
    .execute()
}
