import { sql } from 'kysely'
import type Stripe from 'stripe'
import type { Db } from '../../core/database/tables.ts'
import type { Transact } from '../../core/events/transactor.ts'
import type { Log } from '../../core/log.ts'
import { CURRENCY } from '../billing/index.ts'
import {
  isPayout,
  type PayoutRow,
  reversePayout,
  settlePayout,
  type TransferOutcome,
} from './payout-booking.ts'
import { isRefusal, refusalText, requireText, type StripeClient } from './stripe-client.ts'
import type { StripeEventRef, StripeSync } from './stripe-sync.ts'

/** A process that requests a transfer must settle it within this time. Then a worker retries. */
export const ATTEMPT_MS = 60_000
const MAX_RETRY_MS = 3_600_000
/** Maximum number of payouts that one run of the worker processes. */
const PAYOUTS_PER_RUN = 50

/**
 * Requests the Stripe transfers of payouts, each exactly once.
 *
 * A process claims a payout by advancing its `try_at`. From the second attempt on, it first searches Stripe for the
 * transfer, because an idempotency key may have expired.
 */
export function createPayoutTransfers(deps: {
  stripe: StripeClient
  stripeSync: StripeSync
  db: Db
  transact: Transact
  now: () => Date
  log: Log
}) {
  const { stripe, stripeSync, db, transact, now, log } = deps

  async function find({ id }: PayoutRow): Promise<Stripe.Transfer | undefined> {
    const { data } = await stripe.transfers.list({ transfer_group: id, limit: 1 })
    return data[0]
  }

  const createTransfer = (payout: PayoutRow): Promise<Stripe.Transfer> =>
    stripe.transfers.create(
      {
        amount: payout.amount_cents,
        currency: CURRENCY.toLowerCase(),
        destination: payout.destination,
        transfer_group: payout.id,
        metadata: { payout_id: payout.id },
      },
      { idempotencyKey: `payout-${payout.id}` },
    )

  async function transfer(payout: PayoutRow): Promise<TransferOutcome> {
    let isCreating = false
    try {
      const known = payout.attempts > 1 ? await find(payout) : undefined
      isCreating = !known
      const { id } = known ?? (await createTransfer(payout))
      return { status: 'PAID', transferId: requireText(id, 'id') }
    } catch (cause) {
      // A rejected search does not say whether an earlier attempt created the transfer.
      if (isCreating && isRefusal(cause)) return { status: 'FAILED', failure: refusalText(cause) }
      log.warn({ err: cause, payoutId: payout.id }, 'the outcome of a transfer is unknown, will retry')
      return { status: 'PENDING' }
    }
  }

  /** Records the outcome of a payout, once. */
  const settle = (payout: PayoutRow, outcome: TransferOutcome): Promise<PayoutRow> =>
    transact((tx) => settlePayout(tx, payout.id, outcome, now()))

  return {
    /** Requests the transfer of a payout that the caller has claimed. */
    attempt: async (payout: PayoutRow): Promise<PayoutRow> => settle(payout, await transfer(payout)),

    /**
     * Handles a Stripe event about a transfer: the transfer exists, or Stripe reversed it. A reversed amount is available
     * to the operator again.
     */
    async refreshFromStripe(transferId: string, event: StripeEventRef): Promise<void> {
      await stripeSync.refreshFromStripe(
        transferId,
        async () => {
          const transfer = await stripe.transfers.retrieve(transferId)
          requireText(transfer.id, 'id')
          return transfer
        },
        async (tx, { transfer_group: payoutId, amount_reversed: reversedCents }) => {
          if (!payoutId || !(await isPayout(tx, payoutId))) return
          await settlePayout(tx, payoutId, { status: 'PAID', transferId }, now())
          await reversePayout(tx, { payoutId, transferId, reversedCents }, now())
        },
        event,
      )
    },

    /** Processes due payouts, up to the limit of one run. @throws if the database is unreachable */
    async runDue(): Promise<void> {
      for (let attempted = 0; attempted < PAYOUTS_PER_RUN; attempted++) {
        const payout = await claim(db, now())
        if (!payout) return
        await settle(payout, await transfer(payout))
      }
    },
  }
}
export type PayoutTransfers = ReturnType<typeof createPayoutTransfers>

/** Claims the payout that has been due longest. Concurrent workers claim different payouts. */
async function claim(db: Db, at: Date): Promise<PayoutRow | undefined> {
  return await db
    .with('due', (cte) =>
      cte
        .selectFrom('payouts')
        .select('id')
        .where('status', '=', 'PENDING')
        .where('try_at', '<=', at)
        .orderBy('try_at')
        .limit(1)
        .forUpdate()
        .skipLocked(),
    )
    .updateTable('payouts')
    .from('due')
    .set({
      attempts: sql`payouts.attempts + 1`,
      // The delay doubles with each attempt without a response, up to an hour.
      try_at: sql`${at}::timestamptz + least(${ATTEMPT_MS} * 2 ^ least(payouts.attempts, 6), ${MAX_RETRY_MS}) * interval '1 millisecond'`,
    })
    .whereRef('payouts.id', '=', 'due.id')
    .returningAll('payouts')
    .executeTakeFirst()
}
