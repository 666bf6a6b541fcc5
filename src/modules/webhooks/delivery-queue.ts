import { type RawBuilder, sql } from 'kysely'
import { z } from 'zod'
import type { Transact, Tx } from '../../core/events/transactor.ts'
import type { Attempt, Queue } from '../../core/jobs/queue.ts'

export const DeliveryJob = z.strictObject({ webhookId: z.uuid() })
export type DeliveryJob = z.infer<typeof DeliveryJob>

/** Group of the jobs of webhooks whose last attempt failed. */
const FAILING = 'failing'

/**
 * The queue of webhooks with due deliveries. A job sends them one after another; as a webhook has one unfinished job at
 * most, a receiver gets one request at a time and in order. Failing webhooks are a group with a limit, so that slow
 * receivers do not delay the others.
 */
export const WEBHOOK_DELIVERIES: Queue<DeliveryJob> = {
  name: 'webhook-deliveries',
  description: 'Sends the due deliveries of a webhook, in order',
  data: DeliveryJob,
  order: 'perKey',
  onePerKey: true,
  concurrency: 24,
  groupConcurrency: 8,
  pollMs: 500,
  retry: { limit: 'unlimited', delaySeconds: 1, maxDelaySeconds: 60 },
  expireSeconds: 300,
  heartbeatSeconds: 20,
  keepCompletedSeconds: 600,
}

/** A webhook that has been due for this long counts as forgotten, for example because its job was discarded. */
const FORGOTTEN_MS = 600_000

interface DueWebhook {
  readonly id: string
  readonly failures: number
  readonly start_at: Date
}

/** Enqueues the job of a webhook, unless it has one. The caller has locked the webhook. */
const enqueueTurn = (tx: Tx, { id, failures, start_at }: DueWebhook): void =>
  tx.enqueue({
    queue: WEBHOOK_DELIVERIES,
    data: { webhookId: id },
    key: id,
    startAt: start_at,
    ...(failures > 0 && { group: FAILING }),
  })

/**
 * Makes webhooks due that have new deliveries; the caller has locked them. A webhook that is due already has a job, unless an
 * admin discarded it.
 * @param ids selects the ids of the webhooks
 */
export async function markDue(tx: Tx, ids: RawBuilder<unknown>, at: Date): Promise<void> {
  const { rows } = await sql<DueWebhook>`
    update webhooks set due_at = ${at}::timestamptz
    where id in (${ids})
      and (due_at is null or due_at > ${at}::timestamptz
        or due_at < ${new Date(at.getTime() - FORGOTTEN_MS)}::timestamptz)
    returning id, failures, greatest(due_at, paused_until) as start_at`.execute(tx.db)
  for (const webhook of rows) enqueueTurn(tx, webhook)
}

/** Sets when a webhook is next due, from its pending deliveries, and enqueues its next job. The caller has locked it. */
export async function scheduleTurn(tx: Tx, webhookId: string, at: Date): Promise<void> {
  const { rows } = await sql<DueWebhook>`
    update webhooks set due_at = greatest(pending.next, ${at}::timestamptz)
    from (
      select min(next_attempt_at) as next from webhook_deliveries
      where webhook_id = ${webhookId} and status = 'PENDING'
    ) as pending
    where id = ${webhookId} and enabled and pending.next is not null
    returning id, failures, greatest(due_at, paused_until) as start_at`.execute(tx.db)
  for (const webhook of rows) enqueueTurn(tx, webhook)
  if (rows.length === 0)
    await tx.db.updateTable('webhooks').set({ due_at: null }).where('id', '=', webhookId).execute()
}

/** Creates the function that ends a job of a webhook and enqueues the next one, in one transaction. */
export const createTurnEnd =
  ({ transact, now }: { transact: Transact; now: () => Date }) =>
  (attempt: Attempt<DeliveryJob>): Promise<void> =>
    transact(async (tx) => {
      const { webhookId } = attempt.data
      // The lock comes before the pending deliveries are read, so that concurrent inserts are not missed.
      await tx.db
        .selectFrom('webhooks')
        .select('id')
        .where('id', '=', webhookId)
        .forNoKeyUpdate()
        .executeTakeFirst()
      await scheduleTurn(tx, webhookId, now())
      await attempt.complete(tx)
    })
