import { randomUUID } from 'node:crypto'
import { audit } from '../../core/audit/audit.ts'
import { iso } from '../../core/database/iso.ts'
import type { Db } from '../../core/database/tables.ts'
import { conflict } from '../../core/errors/errors.ts'
import type { Transact, Tx } from '../../core/events/transactor.ts'
import { availableForPayout, balance, CURRENCY, pendingEarnings, post } from '../billing/index.ts'
import type { PayoutRow } from './payout-booking.ts'
import { ATTEMPT_MS, PAYOUTS, type PayoutTransfers } from './payout-transfers.ts'
import type { Recipients } from './recipient.service.ts'

/** Minimum amount of a payout. */
const MINIMUM_CENTS = 1_000
/** Most payouts in a list. */
const LIST_LIMIT = 100

/**
 * Creates the service that pays out earnings on an operator's request. The row, whose id is the idempotency key, and the
 * reserved amount exist before the request to Stripe; the amount stays reserved until Stripe's answer is known.
 */
export function createPayouts(deps: {
  recipients: Recipients
  transfers: PayoutTransfers
  db: Db
  transact: Transact
  now: () => Date
}) {
  const { recipients, transfers, db, transact, now } = deps

  /** Returns the operator's connected account. @throws 409 if it does not exist or cannot receive transfers; 502, 503 */
  async function destination(operatorId: string): Promise<string> {
    const { accountId, payoutsEnabled } = await recipients.status(operatorId)
    if (accountId === null)
      throw conflict('payout_account_missing', 'You have no payout account yet. Set it up first.')
    if (!payoutsEnabled)
      throw conflict(
        'payout_account_not_ready',
        'Your payout account is not ready. Complete it at the payment provider first.',
      )
    return accountId
  }

  /** Reserves the amount for a new payout. */
  async function reserve(
    tx: Tx,
    operatorId: string,
    to: string,
    requestedCents: number | undefined,
    credential: string | undefined,
  ) {
    // A concurrent request waits for this lock and then reads the remaining balance.
    await tx.db.selectFrom('users').select('id').where('id', '=', operatorId).forNoKeyUpdate().execute()
    const availableCents = await availableForPayout(tx.db, operatorId)
    const amountCents = requestedCents ?? availableCents
    if (amountCents < MINIMUM_CENTS || amountCents > availableCents) {
      const { cents } = await pendingEarnings(tx.db, operatorId)
      const pending = cents > 0 ? ` ${euros(cents)} of earnings are pending.` : ''
      throw amountCents < MINIMUM_CENTS
        ? conflict(
            'payout_below_minimum',
            `A payout is at least ${euros(MINIMUM_CENTS)}. This one would be ${euros(amountCents)}.${pending}`,
          )
        : conflict(
            'insufficient_balance',
            `Only ${euros(availableCents)} are available. Request a smaller amount.${pending}`,
          )
    }
    const at = now()
    const id = randomUUID()
    const payout = await tx.db
      .insertInto('payouts')
      .values({
        id,
        operator_id: operatorId,
        amount_cents: amountCents,
        currency: CURRENCY,
        destination: to,
        status: 'PENDING',
        attempts: 1,
        created_at: at,
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    // This process requests the transfer at once. The job does it if this process cannot settle the payout.
    tx.enqueue({ queue: PAYOUTS, data: { payoutId: id }, startAt: new Date(at.getTime() + ATTEMPT_MS) })
    await post(tx, {
      kind: 'payout_reserved',
      at,
      payoutId: id,
      lines: [
        { account: 'operator_payable', userId: operatorId, amountCents },
        { account: 'payout_reserved', userId: operatorId, amountCents: -amountCents },
      ],
    })
    await audit(tx, {
      at,
      organizationId: operatorId,
      actorId: operatorId,
      credential,
      action: 'payout.requested',
      subject: ['payout', id],
      data: { amount_cents: amountCents, currency: CURRENCY, destination: to },
    })
    return payout
  }

  return {
    /** Returns the available, pending and reserved amounts, and the operator's payouts. */
    async overview(operatorId: string) {
      const [availableCents, pending, reservedCents, payouts] = await Promise.all([
        availableForPayout(db, operatorId),
        pendingEarnings(db, operatorId),
        balance(db, 'payout_reserved', operatorId),
        db
          .selectFrom('payouts')
          .selectAll()
          .where('operator_id', '=', operatorId)
          .orderBy('created_at', 'desc')
          .limit(LIST_LIMIT)
          .execute(),
      ])
      return {
        availableCents,
        pendingEarningsCents: pending.cents,
        nextAvailableAt: iso(pending.nextAt),
        pendingCents: 0 - reservedCents,
        minimumCents: MINIMUM_CENTS,
        currency: CURRENCY,
        payouts: payouts.map(payoutView),
      }
    },

    /**
     * Reserves an amount in cents (default: the available amount) and requests its transfer. The returned payout is PENDING
     * if the outcome is not known yet.
     * @throws 409 if the amount is below the minimum or not available, or the payout account is not ready; 502, 503
     */
    async request(operatorId: string, amountCents: number | undefined, credential?: string) {
      const to = await destination(operatorId)
      const reserved = await transact((tx) => reserve(tx, operatorId, to, amountCents, credential))
      return payoutView(await transfers.attempt(reserved))
    },
  }
}
const euros = (cents: number): string => `${(cents / 100).toFixed(2)} ${CURRENCY}`

const payoutView = (row: PayoutRow) => ({
  id: row.id,
  amountCents: row.amount_cents,
  currency: CURRENCY,
  status: row.status,
  failure: row.failure,
  createdAt: iso(row.created_at),
  settledAt: iso(row.settled_at),
})
