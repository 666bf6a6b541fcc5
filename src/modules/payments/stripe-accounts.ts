import { randomUUID } from 'node:crypto'
import type { Db } from '../../core/database/tables.ts'
import { unavailable } from '../../core/errors/errors.ts'
import type { StripeAccountKind } from './stripe-account.entity.ts'
import { isCachedResponse, requireText } from './stripe-client.ts'

/**
 * Makes each person's account at the payment provider once, whoever asks and however often at the same time.
 *
 * The request and its idempotency key are written down first, so a process that dies between the provider's answer
 * and our own row leaves nothing open: the next one sends the same request and is given the same account.
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

  /** What cannot succeed with this key is asked anew, with a new one. */
  const discardRequest = (kind: StripeAccountKind, userId: string, requestKey: string) =>
    db
      .deleteFrom('stripe_accounts')
      .where('user_id', '=', userId)
      .where('kind', '=', kind)
      .where('request_key', '=', requestKey)
      .where('stripe_id', 'is', null)
      .execute()

  return {
    /** The account's id at the provider; undefined while there is none. */
    find: async (kind: StripeAccountKind, userId: string): Promise<string | undefined> =>
      (await find(kind, userId))?.stripe_id ?? undefined,

    /** Whose account this is. */
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
     * The account's id; made by `create` if there is none yet, with the request of whoever came first.
     * @throws what `create` throws
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
        // Without an answer the same request may still come to something, so its key is kept. An account that a
        // failing provider has made all the same has nobody's money in it, and is never used.
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

    /** The account is gone at the provider: the next `ensure` makes another one. */
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
