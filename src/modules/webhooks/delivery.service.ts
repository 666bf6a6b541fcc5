import { randomUUID } from 'node:crypto'
import { TEST_EVENT_TYPE } from '@wheelhouse/protocol'
import { sql } from 'kysely'
import type { Db } from '../../core/database/tables.ts'
import { conflict, notFound } from '../../core/errors/errors.ts'
import type { Transact, Tx } from '../../core/events/transactor.ts'
import { markDue } from './delivery-queue.ts'
import { filterMatchesSql } from './event-filter-sql.ts'
import type { DeliveryStatus } from './webhook.entity.ts'
import { lockWebhook } from './webhook.service.ts'
import type { DeliveryRow, WebhookRow } from './webhook.view.ts'

/** Maximum number of events that a request replays. */
const REPLAY_LIMIT = 1_000
/** Maximum number of pending test events of a webhook. */
const TEST_LIMIT = 5

interface Page {
  readonly before?: string | undefined
  readonly status?: DeliveryStatus | undefined
  readonly limit: number
}

/** Creates the service for deliveries: the log, test events and replays. */
export function createDeliveries(deps: { db: Db; transact: Transact; now: () => Date }) {
  const { db, transact, now } = deps

  const ofUser = (userId: string, webhookId: string) =>
    db
      .selectFrom('webhook_deliveries')
      .innerJoin('webhooks', 'webhooks.id', 'webhook_deliveries.webhook_id')
      .selectAll('webhook_deliveries')
      .where('webhooks.id', '=', webhookId)
      .where('webhooks.user_id', '=', userId)

  /** Locks an enabled webhook of the user. @throws 404 if the user has no such webhook, 409 if it is disabled */
  async function lockEnabled(tx: Tx, userId: string, webhookId: string): Promise<WebhookRow> {
    const webhook = await lockWebhook(tx, userId, webhookId)
    if (!webhook.enabled) throw conflict('webhook_disabled', 'The webhook is disabled. Enable it first.')
    return webhook
  }

  /** Enqueues an event for a webhook that the caller has locked. */
  async function enqueue(
    tx: Tx,
    webhook: WebhookRow,
    event: Pick<DeliveryRow, 'event_id' | 'seq' | 'type' | 'data' | 'occurred_at'>,
  ): Promise<DeliveryRow> {
    const at = now()
    const row = await tx.db
      .insertInto('webhook_deliveries')
      .values({
        id: randomUUID(),
        webhook_id: webhook.id,
        created_at: at,
        next_attempt_at: at,
        event_id: event.event_id,
        seq: event.seq,
        type: event.type,
        data: event.data,
        occurred_at: event.occurred_at,
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    await markDue(tx, sql`${webhook.id}::uuid`, at)
    return row
  }

  /** Returns a delivery of the user's webhook. @throws 404 if it does not exist */
  async function get(userId: string, webhookId: string, id: string): Promise<DeliveryRow> {
    const row = await ofUser(userId, webhookId).where('webhook_deliveries.id', '=', id).executeTakeFirst()
    if (!row) throw notFound('Delivery')
    return row
  }

  return {
    /** Lists deliveries, newest first. @throws 404 if `before` is not a delivery of this webhook */
    async list(userId: string, webhookId: string, { before, status, limit }: Page): Promise<DeliveryRow[]> {
      const start = before === undefined ? undefined : await get(userId, webhookId, before)
      return await ofUser(userId, webhookId)
        .$if(start !== undefined, (query) =>
          query.where('webhook_deliveries.number', '<', (start as DeliveryRow).number),
        )
        .$if(status !== undefined, (query) =>
          query.where('webhook_deliveries.status', '=', status as DeliveryStatus),
        )
        .orderBy('webhook_deliveries.number', 'desc')
        .limit(limit)
        .execute()
    },

    get,

    /** Enqueues a test event. @throws 409 if the webhook is disabled or has too many pending tests */
    test: (userId: string, webhookId: string): Promise<DeliveryRow> =>
      transact(async (tx) => {
        const webhook = await lockEnabled(tx, userId, webhookId)
        const { waiting } = await tx.db
          .selectFrom('webhook_deliveries')
          .select((eb) => eb.fn.countAll<number>().as('waiting'))
          .where('webhook_id', '=', webhookId)
          .where('status', '=', 'PENDING')
          .where('type', '=', TEST_EVENT_TYPE)
          .executeTakeFirstOrThrow()
        if (Number(waiting) >= TEST_LIMIT)
          throw conflict(
            'webhook_test_limit_reached',
            `${TEST_LIMIT} tests are already pending. Try again after they have been sent.`,
          )
        const data = { webhook_id: webhookId }
        return await enqueue(tx, webhook, {
          event_id: randomUUID(),
          seq: null,
          type: TEST_EVENT_TYPE,
          data,
          occurred_at: now(),
        })
      }),

    /** Sends an event again as a new delivery. @throws 409 if the delivery is pending or the webhook is disabled */
    replay: (userId: string, webhookId: string, id: string): Promise<DeliveryRow> =>
      transact(async (tx) => {
        const webhook = await lockEnabled(tx, userId, webhookId)
        const event = await tx.db
          .selectFrom('webhook_deliveries')
          .selectAll()
          .where('webhook_id', '=', webhookId)
          .where('id', '=', id)
          .executeTakeFirst()
        if (!event) throw notFound('Delivery')
        if (event.status === 'PENDING')
          throw conflict(
            'delivery_pending',
            'The delivery is still pending. Replay it after it has been delivered or has failed.',
          )
        return await enqueue(tx, webhook, event)
      }),

    /**
     * Replays events since a time that are neither delivered nor pending, oldest first. Returns their number, and whether
     * the limit was reached, so that more can follow.
     */
    replaySince: (
      userId: string,
      webhookId: string,
      since: Date,
    ): Promise<{ replayed: number; more: boolean }> =>
      transact(async (tx) => {
        const webhook = await lockEnabled(tx, userId, webhookId)
        const at = now()
        const { rows } = await sql`
          insert into webhook_deliveries
            (id, webhook_id, event_id, seq, type, data, occurred_at, created_at, next_attempt_at)
          select gen_random_uuid(), ${webhookId}, e.id, e.seq, e.type, e.data, e.created_at,
            ${at}::timestamptz, ${at}::timestamptz
          from user_events e
          where e.user_id = ${userId} and e.created_at >= ${since}::timestamptz
            and ${filterMatchesSql(sql`${webhook.types}::text[]`, sql`e.type`)}
            and not exists (
              select from webhook_deliveries d
              where d.webhook_id = ${webhookId} and d.event_id = e.id and d.status in ('PENDING', 'DELIVERED'))
          order by e.seq limit ${REPLAY_LIMIT}
          returning number`.execute(tx.db)
        if (rows.length > 0) await markDue(tx, sql`${webhookId}::uuid`, at)
        return { replayed: rows.length, more: rows.length === REPLAY_LIMIT }
      }),
  }
}
export type Deliveries = ReturnType<typeof createDeliveries>
