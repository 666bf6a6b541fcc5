import { type Selectable, sql } from 'kysely'
import type Stripe from 'stripe'
import { z } from 'zod'
import { audit } from '../admin/audit.ts'
import { post } from '../billing/ledger.ts'
import { CURRENCY } from '../billing/money.ts'
import type { Db, Tables } from '../db/orm.ts'
import type { Transact, Tx } from '../events/transactor.ts'
import type { Log } from '../log.ts'
import { notify } from '../notifications/notify.ts'
import { isRefusal, type Provider, refusalText } from './provider.ts'
import type { ProviderFacts, ProviderNews } from './provider-facts.ts'

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
  facts: ProviderFacts
  db: Db
  transact: Transact
  now: () => Date
  log: Log
}) {
  const { provider, facts, db, transact, now, log } = parts

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
    transact((tx) => settleIn(tx, payout.id, outcome, now()))

  return {
    /** Asks for the transfer of a payout that the caller has claimed. */
    attempt: async (payout: PayoutRow): Promise<PayoutRow> => settle(payout, await transfer(payout)),

    /**
     * An event of the provider says that something about this transfer has changed: it is there, or it was taken
     * back, which makes the amount the operator's again.
     */
    async learn(transferId: string, event: ProviderNews): Promise<void> {
      await facts.learn(
        transferId,
        () => provider.transfers.retrieve(transferId),
        async (tx, { transfer_group: payoutId, amount_reversed: reversedCents }) => {
          if (!payoutId || !(await isOurs(tx, payoutId))) return
          await settleIn(tx, payoutId, { status: 'PAID', transferId }, now())
          await reverse(tx, { payoutId, transferId, reversedCents }, now())
        },
        event,
      )
    },

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

/** What became of a payout, in the caller's transaction; whoever finds out first writes it. */
async function settleIn(tx: Tx, id: string, outcome: Outcome, at: Date): Promise<PayoutRow> {
  const settled =
    outcome.status === 'PENDING'
      ? undefined
      : await tx.db
          .updateTable('payouts')
          .set({
            ...{ status: outcome.status, try_at: null, settled_at: at },
            ...(outcome.status === 'PAID'
              ? { transfer_id: outcome.transferId }
              : { failure: outcome.failure }),
          })
          .where('id', '=', id)
          .where('status', '=', 'PENDING')
          .returningAll()
          .executeTakeFirst()
  if (settled) await book(tx, settled, at)
  return (
    settled ?? (await tx.db.selectFrom('payouts').selectAll().where('id', '=', id).executeTakeFirstOrThrow())
  )
}

/** Transfers that were made by hand, or by other programs, have groups of their own. */
async function isOurs(tx: Tx, transferGroup: string): Promise<boolean> {
  if (!z.uuid().safeParse(transferGroup).success) return false
  const payout = await tx.db
    .selectFrom('payouts')
    .select('id')
    .where('id', '=', transferGroup)
    .executeTakeFirst()
  return payout !== undefined
}

/** Gives the operator back what the provider took back since it was last looked at. */
async function reverse(
  tx: Tx,
  { payoutId, transferId, reversedCents }: { payoutId: string; transferId: string; reversedCents: number },
  at: Date,
): Promise<void> {
  const before = await tx.db
    .selectFrom('payouts')
    .select(['operator_id', 'currency', 'reversed_cents'])
    .where('id', '=', payoutId)
    .where('transfer_id', '=', transferId)
    .forUpdate()
    .executeTakeFirst()
  const amountCents = reversedCents - (before?.reversed_cents ?? 0)
  if (!before || amountCents <= 0) return
  await tx.db
    .updateTable('payouts')
    .set({ reversed_cents: reversedCents })
    .where('id', '=', payoutId)
    .execute()
  const userId = before.operator_id
  await post(tx, {
    ...{ kind: 'payout_reversed', at, payoutId },
    lines: [
      { account: 'provider_cash', amountCents },
      { account: 'operator_payable', userId, amountCents: -amountCents },
    ],
  })
  const data = { payout_id: payoutId, amount_cents: amountCents, currency: before.currency }
  const subject = ['payout', payoutId] as const
  await audit(tx, {
    at,
    actorId: undefined,
    action: 'payout.reversed',
    subject,
    data: { operator_id: userId, ...data },
  })
  await notify(tx, at, [{ userId, type: 'payout.reversed', data }])
}

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
