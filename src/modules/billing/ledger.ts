import { randomUUID } from 'node:crypto'
import type { Db } from '../../core/database/tables.ts'
import type { Tx } from '../../core/events/transactor.ts'
import type { LedgerAccount } from './ledger.entity.ts'

/**
 * The ledger, by double entry. A posting is two lines or more that add up to zero; debits are positive.
 *
 * | account             | whose    | grows (debit or credit) | falls                     |
 * |---------------------|----------|-------------------------|---------------------------|
 * | `client_receivable` | client   | debit: a session ended  | the client paid           |
 * | `client_balance`    | client   | debit: the provider put | the provider charged it   |
 * |                     |          | an invoice off          | with a later one          |
 * | `operator_pending`  | operator | credit: a session ended | it became available       |
 * | `operator_payable`  | operator | credit: earnings became | a payout was reserved     |
 * |                     |          | available               |                           |
 * | `payout_reserved`   | operator | credit: a payout began  | it arrived, or fell back  |
 * | `platform_revenue`  | nobody   | credit: a session ended |                           |
 * | `provider_cash`     | nobody   | debit: a client paid    | a payout was transferred  |
 *
 * Balances are sums of lines and are stored nowhere.
 */
export interface Posting {
  /** What happened, e.g. `session_charge`. */
  readonly kind: string
  readonly at: Date
  readonly sessionId?: string
  readonly invoiceId?: string
  readonly payoutId?: string
  readonly lines: readonly PostingLine[]
}

export interface PostingLine {
  readonly account: LedgerAccount
  /** Whose; only for accounts that belong to somebody. */
  readonly userId?: string
  /** Debit positive, credit negative. A line of nothing is left out. */
  readonly amountCents: number
}

/** Posts in the caller's transaction, which cannot commit unless the lines add up to zero. */
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

/** The sum of somebody's lines in one account, debits positive, in cents. */
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

/** What an operator can ask to be paid out, in cents: earned, not pending, and not asked for yet. */
export async function availableForPayout(db: Db, operatorId: string): Promise<number> {
  return 0 - (await balance(db, 'operator_payable', operatorId)) // 0 - 0 is 0; -0 is not
}
