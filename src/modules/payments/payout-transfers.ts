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

/** A process that asked for a transfer has this long to say what came of it; then somebody else looks. */
export const ATTEMPT_MS = 60_000
const LONGEST_WAIT_MS = 3_600_000
/** Payouts tried by one run of the worker. */
const PAYOUTS_PER_RUN = 50

/**
 * Has the provider make the transfers of payouts, each once.
 *
 * Who works on a payout has claimed it by moving its `try_at`. From the second attempt on the provider is first asked
 * whether the transfer is there already: its list is the truth, and holds where an idempotency key has expired.
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
      // A question that is refused says nothing of the transfer, which an earlier attempt may have made.
      if (isCreating && isRefusal(cause)) return { status: 'FAILED', failure: refusalText(cause) }
      log.warn({ err: cause, payoutId: payout.id }, 'outcome of a transfer unknown, will be asked again')
      return { status: 'PENDING' }
    }
  }

  /** Writes down what became of a payout, once. */
  const settle = (payout: PayoutRow, outcome: TransferOutcome): Promise<PayoutRow> =>
    transact((tx) => settlePayout(tx, payout.id, outcome, now()))

  return {
    /** Asks for the transfer of a payout that the caller has claimed. */
    attempt: async (payout: PayoutRow): Promise<PayoutRow> => settle(payout, await transfer(payout)),

    /**
     * An event of the provider says that something about this transfer has changed: it is there, or it was taken
     * back, which makes the amount the operator's again.
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

    /** Tries what is due, within bounds; call it again and again. Throws when the database is away. */
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

/** Takes the payout that has waited longest. Of several workers one gets it. */
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
      // Should this attempt stay without an answer as well, it is asked again later and later, at last hourly.
      try_at: sql`${at}::timestamptz + least(${ATTEMPT_MS} * 2 ^ least(payouts.attempts, 6), ${LONGEST_WAIT_MS}) * interval '1 millisecond'`,
    })
    .whereRef('payouts.id', '=', 'due.id')
    .returningAll('payouts')
    .executeTakeFirst()
}
