import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { CoreServices } from '../../../core/core-services.ts'
import { badRequest, conflict, notFound } from '../../../core/errors/errors.ts'
import type { PushSubscriptionView, SubscribePush } from './push.schema.ts'
import type { PushService } from './push-service.ts'

/** Maximum number of subscriptions of a user. A further one replaces the oldest. */
const MAX_SUBSCRIPTIONS = 10

const VIEW = ['id', 'endpoint', 'label', 'created_at', 'last_success_at'] as const

interface Row {
  readonly id: string
  readonly endpoint: string
  readonly label: string
  readonly created_at: Date
  readonly last_success_at: Date | null
}

/** Creates the service for the browsers that receive a user's notifications. */
export function createPushSubscriptions(
  deps: Pick<CoreServices, 'db' | 'transact' | 'now'> & { pushService: PushService },
) {
  const { db, transact, now, pushService } = deps

  /** Validates an endpoint. It resolves the name, so it runs outside of the transaction. */
  async function checkEndpoint(endpoint: string): Promise<void> {
    const problem = await pushService.problemOf(endpoint)
    if (problem !== undefined) throw badRequest(`endpoint: ${problem}`)
  }

  return {
    async list(userId: string): Promise<{ subscriptions: PushSubscriptionView[] }> {
      const rows = await db
        .selectFrom('push_subscriptions')
        .select(VIEW)
        .where('user_id', '=', userId)
        .orderBy('created_at', 'desc')
        .orderBy('id')
        .limit(MAX_SUBSCRIPTIONS)
        .execute()
      return { subscriptions: rows.map(viewOf) }
    },

    /** Adds a browser, or renews its keys. Only the browser itself knows its `auth`, so it may change its user. */
    async subscribe(userId: string, { endpoint, keys }: SubscribePush, label: string) {
      await checkEndpoint(endpoint)
      return await transact(async (tx) => {
        // Concurrent requests of a user wait here, so that each sees the rows of the other.
        await tx.db.selectFrom('users').select('id').where('id', '=', userId).forNoKeyUpdate().execute()
        const { rows } = await sql<Row>`
          with added as (
            insert into push_subscriptions (id, user_id, endpoint, p256dh, auth, label, created_at)
            values (${randomUUID()}, ${userId}, ${endpoint}, ${keys.p256dh}, ${keys.auth}, ${label}, ${now()})
            on conflict (endpoint) do update set user_id = excluded.user_id, p256dh = excluded.p256dh,
              auth = excluded.auth, label = excluded.label, created_at = excluded.created_at
            where push_subscriptions.user_id = excluded.user_id or push_subscriptions.auth = excluded.auth
            returning id, endpoint, label, created_at, last_success_at
          ), replaced as (
            delete from push_subscriptions where exists (select from added) and id in (
              select id from push_subscriptions where user_id = ${userId} and endpoint <> ${endpoint}
              order by created_at desc, id offset ${MAX_SUBSCRIPTIONS - 1})
          )
          select * from added`.execute(tx.db)
        const [added] = rows
        if (!added)
          throw conflict(
            'push_endpoint_taken',
            'This endpoint belongs to another user. Subscribe the browser again.',
          )
        return viewOf(added)
      })
    },

    async remove(userId: string, id: string): Promise<void> {
      const removed = await db
        .deleteFrom('push_subscriptions')
        .where('id', '=', id)
        .where('user_id', '=', userId)
        .returning('id')
        .executeTakeFirst()
      if (!removed) throw notFound('Push subscription')
    },
  }
}
export type PushSubscriptions = ReturnType<typeof createPushSubscriptions>

const viewOf = ({ created_at, last_success_at, ...row }: Row): PushSubscriptionView => ({
  ...row,
  created_at: new Date(created_at).toISOString(),
  last_success_at: last_success_at && new Date(last_success_at).toISOString(),
})
