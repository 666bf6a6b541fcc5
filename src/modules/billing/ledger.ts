import { randomUUID } from 'node:crypto'
import type { Db } from '../../core/database/tables.ts'
import type { Tx } from '../../core/events/transactor.ts'
import type { LedgerAccount } from './billing.entity.ts'

/**
 * The ledger uses double entry. A posting has two or more lines that sum to zero; debits are positive.
 *
 * | account             | owner    | increases by            | decreases when            |
 * |---------------------|----------|-------------------------|---------------------------|
 * | `client_receivable` | client   | debit: a session ended  | the client paid           |
 * | `client_balance`    | client   | debit: Stripe deferred  | Stripe charged it with a  |
 * |                     |          | an invoice              | later invoice             |
 * | `operator_pending`  | operator | credit: a session ended | it became available       |
 * | `operator_payable`  | operator | credit: earnings became | a payout was reserved     |
 * |                     |          | available               |                           |
 * | `payout_reserved`   | operator | credit: a payout began  | it was paid or reversed   |
 * | `platform_revenue`  | platform | credit: a session ended |                           |
 * | `provider_cash`     | platform | debit: a client paid    | a payout was transferred  |
 *
 * A balance is the sum of its lines and is not stored.
 */
export interface Posting {
  /** Kind of the posting, such as `session_charge`. */
  readonly kind: string
  readonly at: Date
  readonly sessionId?: string
  readonly invoiceId?: string
  readonly payoutId?: string
  readonly lines: readonly PostingLine[]
}

export interface PostingLine {
  readonly account: LedgerAccount
  /** Owner of the account; only for accounts of users. */
  readonly userId?: string
  /** Debits are positive, credits negative. Lines of zero are omitted. */
  readonly amountCents: number
}

/** Inserts a posting in the caller's transaction, which commits only if the lines sum to zero. */
export async function post(tx: Pick<Tx, 'db'>, posting: Posting): Promise<void> {
  const lines = posting.lines.filter((line) => line.amountCents !== 0)
  if (lines.length === 0) return
  const postingId = randomUUID()
  await tx.db
    .insertInto('ledger_entries')
    .values(
      lines.map((line) => ({
        posting_id: postingId,
        account: line.account,
        user_id: line.userId ?? null,
        amount_cents: line.amountCents,
        session_id: posting.sessionId ?? null,
        invoice_id: posting.invoiceId ?? null,
        payout_id: posting.payoutId ?? null,
        kind: posting.kind,
        at: posting.at,
      })),
    )
    .execute()
}

/** Returns the balance of a user's account in cents, debits positive. */
export async function balance(db: Db, account: LedgerAccount, userId: string): Promise<number> {
  const { cents } = await db
    .selectFrom('ledger_entries')
    .select((eb) =>
      eb.cast<number>(eb.fn.coalesce(eb.fn.sum('amount_cents'), eb.lit(0)), 'bigint').as('cents'),
    )
    .where('user_id', '=', userId)
    .where('account', '=', account)
    .executeTakeFirstOrThrow()
  return cents
}

/** Returns the amount available for payout in cents: earned, released, and not yet requested. */
export async function availableForPayout(db: Db, operatorId: string): Promise<number> {
  return 0 - (await balance(db, 'operator_payable', operatorId)) // 0 - 0 is 0; -0 is not
}
