import { randomUUID } from 'node:crypto'
import type { Db } from '../../core/database/tables.ts'
import { unavailable } from '../../core/errors/errors.ts'
import type { StripeAccountKind } from './payment.entity.ts'
import { isCachedResponse, requireText } from './stripe-client.ts'

/**
 * Creates each user's Stripe account once, also with concurrent calls.
 *
 * It first saves the request and its idempotency key. If a process crashes after Stripe's response, the next call sends
 * the same request and receives the same account.
 */
export function createStripeAccounts({ db, now }: { db: Db; now: () => Date }) {
  const find = (kind: StripeAccountKind, userId: string) =>
    db
      .selectFrom('stripe_accounts')
      .select(['request_key', 'request', 'stripe_id'])
      .where('user_id', '=', userId)
      .where('kind', '=', kind)
      .executeTakeFirst()

  async function claimRequest(kind: StripeAccountKind, userId: string, request: object) {
    await db
      .insertInto('stripe_accounts')
      .values({
        user_id: userId,
        kind,
        request_key: randomUUID(),
        request: JSON.stringify(request),
        created_at: now(),
      })
      .onConflict((conflict) => conflict.columns(['user_id', 'kind']).doNothing())
      .execute()
    return await find(kind, userId)
  }

  /** Deletes a request that cannot succeed with its key. The next call uses a new key. */
  const discardRequest = (kind: StripeAccountKind, userId: string, requestKey: string) =>
    db
      .deleteFrom('stripe_accounts')
      .where('user_id', '=', userId)
      .where('kind', '=', kind)
      .where('request_key', '=', requestKey)
      .where('stripe_id', 'is', null)
      .execute()

  return {
    /** Returns the account's Stripe id, or undefined if the account does not exist. */
    find: async (kind: StripeAccountKind, userId: string): Promise<string | undefined> =>
      (await find(kind, userId))?.stripe_id ?? undefined,

    /** Returns the user of an account. */
    async userOf(kind: StripeAccountKind, providerId: string, from: Db = db): Promise<string | undefined> {
      const row = await from
        .selectFrom('stripe_accounts')
        .select('user_id')
        .where('kind', '=', kind)
        .where('stripe_id', '=', providerId)
        .executeTakeFirst()
      return row?.user_id
    },

    /**
     * Returns the account's id. If necessary, creates the account with the request that was saved first.
     * @throws 503 if another call discarded the request; the errors of `create`
     */
    async ensure<R extends object>(
      kind: StripeAccountKind,
      userId: string,
      request: () => Promise<R>,
      create: (request: R, idempotencyKey: string) => Promise<{ id: string }>,
    ): Promise<string> {
      const known = (await find(kind, userId)) ?? (await claimRequest(kind, userId, await request()))
      if (!known)
        throw unavailable('payment_request_running', 'The account is being created again. Try again shortly.')
      if (known.stripe_id !== null) return known.stripe_id
      const { request_key: key } = known
      let id: string
      try {
        id = requireText((await create(known.request as R, key)).id, 'id')
      } catch (cause) {
        // After an unknown outcome the key stays, because the request may still succeed. After a cached response the key
        // is discarded. If Stripe created an account nevertheless, it is empty and never used.
        if (isCachedResponse(cause)) await discardRequest(kind, userId, key)
        throw cause
      }
      await db
        .updateTable('stripe_accounts')
        .set({ stripe_id: id })
        .where('user_id', '=', userId)
        .where('kind', '=', kind)
        .where('request_key', '=', key)
        .execute()
      return id
    },

    /** Deletes the record of an account that no longer exists at Stripe. The next `ensure` creates another one. */
    async forget(kind: StripeAccountKind, userId: string, providerId: string, from: Db = db): Promise<void> {
      await from
        .deleteFrom('stripe_accounts')
        .where('user_id', '=', userId)
        .where('kind', '=', kind)
        .where('stripe_id', '=', providerId)
        .execute()
    },
  }
}
export type StripeAccounts = ReturnType<typeof createStripeAccounts>
