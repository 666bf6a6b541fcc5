import type Stripe from 'stripe'
import { z } from 'zod'
import type { Db } from '../../core/database/tables.ts'
import type { Transact } from '../../core/events/transactor.ts'
import { type Attempt, type Queue, RetryAt } from '../../core/jobs/queue.ts'
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
/** Longest delay after a failed transfer. */
const MAX_RETRY_MS = 3_600_000

const PayoutJob = z.strictObject({ payoutId: z.uuid() })
type PayoutJob = z.infer<typeof PayoutJob>

/** The queue of payouts whose outcome is unknown. It retries without a limit: the amount is neither paid nor available. */
export const PAYOUTS: Queue<PayoutJob> = {
  name: 'payouts',
  description: 'Requests the transfer of a payout until its outcome is known',
  undiscardable: true,
  data: PayoutJob,
  order: 'any',
  concurrency: 2,
  pollMs: 5_000,
  retry: { limit: 'unlimited', delaySeconds: 60, maxDelaySeconds: 3_600 },
  expireSeconds: 600,
  heartbeatSeconds: 30,
  keepCompletedSeconds: 86_400,
}

/**
 * Requests the Stripe transfers of payouts, each exactly once.
 *
 * From the second attempt on, a process first searches Stripe for the transfer, because an idempotency key may have expired.
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

  /** Counts an attempt. Returns undefined when the payout is settled. */
  const beginAttempt = (id: string): Promise<PayoutRow | undefined> =>
    db
      .updateTable('payouts')
      .set((eb) => ({ attempts: eb('attempts', '+', 1) }))
      .where('id', '=', id)
      .where('status', '=', 'PENDING')
      .returningAll()
      .executeTakeFirst()

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

    /** Runs the job of a payout. @throws RetryAt if the outcome of the transfer is unknown */
    async runJob({ data: { payoutId } }: Attempt<PayoutJob>): Promise<void> {
      const payout = await beginAttempt(payoutId)
      if (!payout) return
      const { status } = await settle(payout, await transfer(payout))
      if (status !== 'PENDING') return
      const delayMs = Math.min(ATTEMPT_MS * 2 ** Math.min(payout.attempts - 1, 6), MAX_RETRY_MS)
      throw new RetryAt(new Date(now().getTime() + delayMs), 'The outcome of the transfer is unknown.')
    },
  }
}
export type PayoutTransfers = ReturnType<typeof createPayoutTransfers>
