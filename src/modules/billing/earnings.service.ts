import { sql } from 'kysely'
import type { Db } from '../../core/database/tables.ts'
import type { Transact, Tx } from '../../core/events/transactor.ts'
import { guestIntervals } from './guest-intervals.ts'
import { balance, post } from './ledger.ts'

/** Most sessions per statement, so that it ends well within the query timeout. */
const SESSIONS_PER_STATEMENT = 1_000
/** Most statements per run of the worker. The next run continues. */
const STATEMENTS_PER_RUN = 20

/** Selects the earnings to release: those of a paid invoice, or those whose hold period has ended. */
type ReleaseSelector = { readonly invoiceId: string; readonly clientId: string } | { readonly dueAt: Date }

/**
 * Releases earnings of sessions to their operators, at most `RELEASE_LIMIT` sessions per statement. The statement that
 * clears `earnings_held_until` claims the amount, so no earnings are released twice and `operator_pending` cannot be
 * overdrawn.
 * @returns the number of sessions
 */
async function release(tx: Tx, selector: ReleaseSelector, at: Date): Promise<number> {
  const released = await tx.db
    // Locks in the same order as the monthly close and the episode store.
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
        .returning(['sessions.id', 'operator_id', 'operator_earnings_cents']),
    )
    .with('earned', (cte) =>
      cte
        .selectFrom('released')
        .select(['operator_id as user_id', 'operator_earnings_cents as cents'])
        .unionAll(
          cte
            .selectFrom('released')
            .innerJoin('control_intervals as held', 'held.session_id', 'released.id')
            .whereRef('held.user_id', '<>', 'released.operator_id')
            .where('held.plan_id', 'is not', null)
            .select([sql<string>`held.user_id`.as('user_id'), 'held.operator_earnings_cents as cents']),
        ),
    )
    .selectFrom('earned')
    .select(['user_id', sql<number>`sum(cents)::bigint`.as('cents')])
    .select(sql<number>`(select count(*) from released)`.as('sessions'))
    .groupBy('user_id')
    .orderBy('user_id')
    .execute()
  const [first] = released
  if (!first) return 0
  await lockUsers(tx, [
    ...released.map((row) => row.user_id),
    ...('dueAt' in selector ? [] : [selector.clientId]),
  ])
  for (const { user_id: userId, cents } of released) {
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
  return first.sessions
}

/** Locks users in the order of their ids, like every transaction that locks several. */
const lockUsers = (tx: Tx, ids: readonly string[]) =>
  tx.db.selectFrom('users').select('id').where('id', 'in', ids).orderBy('id').forNoKeyUpdate().execute()

/** Releases the earnings of all sessions on an invoice, in the transaction that sets it to PAID. */
export async function releaseEarnings(
  tx: Tx,
  invoice: { readonly id: string; readonly client_id: string },
  at: Date,
): Promise<void> {
  const selector = { invoiceId: invoice.id, clientId: invoice.client_id }
  while ((await release(tx, selector, at)) === SESSIONS_PER_STATEMENT);
}

/** Creates the job that releases earnings at the end of their hold period. */
export function createEarningsRelease({ transact, now }: { transact: Transact; now: () => Date }) {
  return {
    /** Releases due earnings, up to the limit of one run. @throws when the database is unreachable */
    async runDue(): Promise<void> {
      for (let count = 0; count < STATEMENTS_PER_RUN; count++) {
        const at = now()
        const released = await transact((tx) => release(tx, { dueAt: at }, at))
        if (released < SESSIONS_PER_STATEMENT) return
      }
    },
  }
}

/** Returns an operator's pending earnings and when the first of them become available. */
export async function pendingEarnings(db: Db, operatorId: string) {
  const own = db
    .selectFrom('sessions')
    .select('earnings_held_until')
    .where('operator_id', '=', operatorId)
    .where('earnings_held_until', 'is not', null)
    .where('operator_earnings_cents', '>', 0)
    .orderBy('earnings_held_until')
    .limit(1)
  const asGuest = guestIntervals(db)
    .select('sessions.earnings_held_until')
    .where('held.user_id', '=', operatorId)
    .where('held.operator_earnings_cents', '>', 0)
    .where('sessions.earnings_held_until', 'is not', null)
  const [cents, next] = await Promise.all([
    balance(db, 'operator_pending', operatorId),
    db
      .selectFrom(own.as('own'))
      .selectAll()
      .unionAll(asGuest)
      .orderBy('earnings_held_until')
      .limit(1)
      .executeTakeFirst(),
  ])
  return { cents: 0 - cents, nextAt: next?.earnings_held_until ?? null }
}
