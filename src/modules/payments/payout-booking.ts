import type { Selectable } from 'kysely'
import { z } from 'zod'
import { audit } from '../../core/audit/audit.ts'
import type { Tables } from '../../core/database/tables.ts'
import type { Tx } from '../../core/events/transactor.ts'
import { post } from '../billing/index.ts'

export type PayoutRow = Selectable<Tables['payouts']>

/** The known outcome of a payout's transfer. */
export type TransferOutcome =
  | { readonly status: 'PAID'; readonly transferId: string }
  | { readonly status: 'FAILED'; readonly failure: string }
  | { readonly status: 'PENDING' }

/** Settles a PENDING payout in the caller's transaction. Only the first caller has an effect. */
export async function settlePayout(
  tx: Tx,
  id: string,
  outcome: TransferOutcome,
  at: Date,
): Promise<PayoutRow> {
  const settled =
    outcome.status === 'PENDING'
      ? undefined
      : await tx.db
          .updateTable('payouts')
          .set({
            status: outcome.status,
            settled_at: at,
            ...(outcome.status === 'PAID'
              ? { transfer_id: outcome.transferId }
              : { failure: outcome.failure }),
          })
          .where('id', '=', id)
          .where('status', '=', 'PENDING')
          .returningAll()
          .executeTakeFirst()
  if (settled) await postPayout(tx, settled, at)
  return (
    settled ?? (await tx.db.selectFrom('payouts').selectAll().where('id', '=', id).executeTakeFirstOrThrow())
  )
}

/** Returns whether a transfer group is a payout of the platform. Transfers from other sources have other groups. */
export async function isPayout(tx: Tx, transferGroup: string): Promise<boolean> {
  if (!z.uuid().safeParse(transferGroup).success) return false
  const payout = await tx.db
    .selectFrom('payouts')
    .select('id')
    .where('id', '=', transferGroup)
    .executeTakeFirst()
  return payout !== undefined
}

/** Credits the operator with the amount that Stripe has reversed since the last call. */
export async function reversePayout(
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
    kind: 'payout_reversed',
    at,
    payoutId,
    lines: [
      { account: 'provider_cash', amountCents },
      { account: 'operator_payable', userId, amountCents: -amountCents },
    ],
  })
  const data = { payout_id: payoutId, amount_cents: amountCents, currency: before.currency }
  const subject = ['payout', payoutId] as const
  await audit(tx, {
    at,
    organizationId: userId,
    actorId: undefined,
    action: 'payout.reversed',
    subject,
    data: { operator_id: userId, ...data },
  })
  await tx.notify(at, [{ userId, type: 'payout.reversed', data }])
}

/** Posts the reserved amount to the account for the payout's status, and notifies the operator. */
async function postPayout(tx: Tx, payout: PayoutRow, at: Date): Promise<void> {
  const { id, operator_id: userId, amount_cents: amountCents, status } = payout
  const isPaid = status === 'PAID'
  await post(tx, {
    kind: isPaid ? 'payout_paid' : 'payout_released',
    at,
    payoutId: id,
    lines: [
      { account: 'payout_reserved', userId, amountCents },
      isPaid
        ? { account: 'provider_cash', amountCents: -amountCents }
        : { account: 'operator_payable', userId, amountCents: -amountCents },
    ],
  })
  const data = { amount_cents: amountCents, currency: payout.currency }
  const payload = { payout_id: id, ...data, ...(payout.failure !== null && { failure: payout.failure }) }
  await audit(tx, {
    at,
    organizationId: userId,
    actorId: undefined,
    subject: ['payout', id],
    action: isPaid ? 'payout.paid' : 'payout.failed',
    data: { operator_id: userId, ...payload },
  })
  await tx.notify(at, [{ userId, type: isPaid ? 'payout.paid' : 'payout.failed', data: payload }])
}
