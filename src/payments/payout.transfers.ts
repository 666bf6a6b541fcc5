import { type Selectable, sql } from 'kysely'
import type Stripe from 'stripe'
import { audit } from '../admin/audit.ts'
import { post } from '../billing/ledger.ts'
import { CURRENCY } from '../billing/money.ts'
import type { Db, Tables } from '../db/orm.ts'
import type { Transact, Tx } from '../events/transactor.ts'
import type { Log } from '../log.ts'
import { notify } from '../notifications/notify.ts'
import { isRefusal, type Provider, refusalText } from './provider.ts'

export type PayoutRow = Selectable<Tables['payouts']>

/** A process that asked for a transfer has this long to say what came of it; then somebody else looks. */
export const ATTEMPT_MS = 60_000
const LONGEST_WAIT_MS = 3_600_000
/** Payouts tried by one run of the worker. */
const PAYOUTS_PER_RUN = 50

/** What is known of a payout's transfer now. */
type Outcome =
  | { readonly status: 'PAID'; readonly transferId: string }
  | { readonly status: 'FAILED'; readonly failure: string }
  | { readonly status: 'PENDING' }

/**
 * Has the provider make the transfers of payouts, each once.
 *
 * Who works on a payout has claimed it by moving its `try_at`. From the second attempt on the provider is first asked
 * whether the transfer is there already: its list is the truth, and holds where an idempotency key has expired.
 */
export function createPayoutTransfers(parts: {
  provider: Provider
  db: Db
  transact: Transact
  now: () => Date
  log: Log
}) {
  const { provider, db, transact, now, log } = parts

  async function find({ id }: PayoutRow): Promise<Stripe.Transfer | undefined> {
    const { data } = await provider.transfers.list({ transfer_group: id, limit: 1 })
    return data[0]
  }

  async function transfer(payout: PayoutRow): Promise<Outcome> {
    try {
      const known = payout.attempts > 1 ? await find(payout) : undefined
      const { id } =
        known ??
        (await provider.transfers.create(
          {
            ...{ amount: payout.amount_cents, currency: CURRENCY.toLowerCase() },
            ...{ destination: payout.destination, transfer_group: payout.id },
            metadata: { payout_id: payout.id },
          },
          { idempotencyKey: `payout-${payout.id}` },
        ))
      return { status: 'PAID', transferId: id }
    } catch (cause) {
      if (isRefusal(cause)) return { status: 'FAILED', failure: refusalText(cause) }
      log.warn({ err: cause, payoutId: payout.id }, 'outcome of a transfer unknown, will be asked again')
      return { status: 'PENDING' }
    }
  }

  /** Writes down what became of a payout, once. */
  const settle = (payout: PayoutRow, outcome: Outcome): Promise<PayoutRow> =>
    transact(async (tx) => {
      if (outcome.status === 'PENDING') return await read(tx, payout.id)
      const at = now()
      const settled = await tx.db
        .updateTable('payouts')
        .set({
          ...{ status: outcome.status, try_at: null, settled_at: at },
          ...(outcome.status === 'PAID' ? { transfer_id: outcome.transferId } : { failure: outcome.failure }),
        })
        .where('id', '=', payout.id)
        .where('status', '=', 'PENDING')
        .returningAll()
        .executeTakeFirst()
      if (!settled) return await read(tx, payout.id) // somebody else has found out meanwhile
      await book(tx, settled, at)
      return settled
    })

  return {
    /** Asks for the transfer of a payout that the caller has claimed. */
    attempt: async (payout: PayoutRow): Promise<PayoutRow> => settle(payout, await transfer(payout)),

    /** Tries what is due, within bounds; call it again and again. Throws when the database is away. */
    async runDue(): Promise<void> {
      for (let tried = 0; tried < PAYOUTS_PER_RUN; tried++) {
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

const read = (tx: Tx, id: string): Promise<PayoutRow> =>
  tx.db.selectFrom('payouts').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

/** Moves the reserved amount to where it belongs now, and tells the operator. */
async function book(tx: Tx, payout: PayoutRow, at: Date): Promise<void> {
  const { id, operator_id: userId, amount_cents: amountCents, status } = payout
  const paid = status === 'PAID'
  await post(tx, {
    ...{ kind: paid ? 'payout_paid' : 'payout_released', at, payoutId: id },
    lines: [
      { account: 'payout_reserved', userId, amountCents },
      paid
        ? { account: 'provider_cash', amountCents: -amountCents }
        : { account: 'operator_payable', userId, amountCents: -amountCents },
    ],
  })
  const data = { amount_cents: amountCents, currency: payout.currency }
  const told = { payout_id: id, ...data, ...(payout.failure !== null && { failure: payout.failure }) }
  await audit(tx, {
    ...{ at, actorId: undefined, subject: ['payout', id] },
    action: paid ? 'payout.paid' : 'payout.failed',
    data: { operator_id: userId, ...told },
  })
  await notify(tx, at, [{ userId, type: paid ? 'payout.paid' : 'payout.failed', data: told }])
}
