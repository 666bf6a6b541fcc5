import { sql } from 'kysely'
import type { Db } from '../../core/database/tables.ts'
import type { Transact, Tx } from '../../core/events/transactor.ts'
import { balance, post } from './ledger.ts'

/** Sessions whose earnings one statement makes available: it must end well before its time is up. */
const SESSIONS_PER_STATEMENT = 1_000
/** Statements of one run of the worker; the rest waits for the next. */
const STATEMENTS_PER_RUN = 20

/** Which earnings become available: those on an invoice that was paid, or those that were pending for long enough. */
type ReleaseSelector = { readonly invoiceId: string; readonly clientId: string } | { readonly dueAt: Date }

/**
 * Makes earnings of sessions available to their operators, at most so many at once. The statement
 * that clears `earnings_held_until` claims the amount, so no earnings are released twice; `operator_pending` cannot be overdrawn.
 * @returns how many sessions there were
 */
async function release(tx: Tx, selector: ReleaseSelector, at: Date): Promise<number> {
  const released = await tx.db
    // Locked in the order in which the monthly close and episodes lock them, too.
    .with('locked', (cte) => {
      const held = cte.selectFrom('sessions').select('id').where('earnings_held_until', 'is not', null)
      return 'dueAt' in selector
        ? held
            .where('earnings_held_until', '<=', selector.dueAt)
            .orderBy('earnings_held_until')
            .limit(SESSIONS_PER_STATEMENT)
            .forNoKeyUpdate()
            .skipLocked()
        : held
            .where('invoice_id', '=', selector.invoiceId)
            .orderBy('id')
            .limit(SESSIONS_PER_STATEMENT)
            .forNoKeyUpdate()
    })
    .with('released', (cte) =>
      cte
        .updateTable('sessions')
        .from('locked')
        .set({ earnings_held_until: null })
        .whereRef('sessions.id', '=', 'locked.id')
        .returning(['operator_id', 'operator_earnings_cents']),
    )
    .selectFrom('released')
    .select(['operator_id', sql<number>`sum(operator_earnings_cents)::bigint`.as('cents')])
    .select(sql<number>`count(*)`.as('sessions'))
    .groupBy('operator_id')
    .orderBy('operator_id')
    .execute()
  if (released.length === 0) return 0
  await lockUsers(tx, [
    ...released.map((row) => row.operator_id),
    ...('dueAt' in selector ? [] : [selector.clientId]),
  ])
  for (const { operator_id: userId, cents } of released) {
    await post(tx, {
      kind: 'earnings_released',
      at,
      ...('dueAt' in selector ? {} : { invoiceId: selector.invoiceId }),
      lines: [
        { account: 'operator_pending', userId, amountCents: cents },
        { account: 'operator_payable', userId, amountCents: -cents },
      ],
    })
  }
  return released.reduce((sum, { sessions }) => sum + sessions, 0)
}

/** Locks users in the order of their ids, as everything does that locks several. */
const lockUsers = (tx: Tx, ids: readonly string[]) =>
  tx.db.selectFrom('users').select('id').where('id', 'in', ids).orderBy('id').forNoKeyUpdate().execute()

/** Makes the earnings of all sessions on an invoice available, in the transaction that makes it PAID. */
export async function releaseEarnings(
  tx: Tx,
  invoice: { readonly id: string; readonly client_id: string },
  at: Date,
): Promise<void> {
  const selector = { invoiceId: invoice.id, clientId: invoice.client_id }
  while ((await release(tx, selector, at)) === SESSIONS_PER_STATEMENT);
}

/** Makes earnings available that were pending for as long as the platform holds them. */
export function createEarningsRelease({ transact, now }: { transact: Transact; now: () => Date }) {
  return {
    /** Releases what is due, within bounds; call it again and again. Throws when the database is away. */
    async runDue(): Promise<void> {
      for (let count = 0; count < STATEMENTS_PER_RUN; count++) {
        const at = now()
        const released = await transact((tx) => release(tx, { dueAt: at }, at))
        if (released < SESSIONS_PER_STATEMENT) return
      }
    },
  }
}

/** Returns an operator's earnings that are not available yet, and by when the first of them are. */
export async function pendingEarnings(db: Db, operatorId: string) {
  const [cents, next] = await Promise.all([
    balance(db, 'operator_pending', operatorId),
    db
      .selectFrom('sessions')
      .select('earnings_held_until')
      .where('operator_id', '=', operatorId)
      .where('earnings_held_until', 'is not', null)
      .orderBy('earnings_held_until')
      .limit(1)
      .executeTakeFirst(),
  ])
  return { cents: 0 - cents, nextAt: next?.earnings_held_until ?? null }
}
