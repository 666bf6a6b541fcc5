import { randomUUID } from 'node:crypto'
import { type Selectable, type SqlBool, sql } from 'kysely'
import { audit } from '../../core/audit/audit.ts'
import type { Db, Tables } from '../../core/database/tables.ts'
import { isDatabaseUnreachable } from '../../core/errors/errors.ts'
import type { Transact, Tx } from '../../core/events/transactor.ts'
import type { Log } from '../../core/log.ts'
import { addMonths, monthOf, startOf } from '../../core/time/month.ts'
import { CURRENCY } from './money.ts'

/** Most invoices per run. The next run continues. */
const INVOICES_PER_RUN = 500
/** Most sessions that are examined to find clients to invoice. */
const SESSIONS_PER_SCAN = 500
/** Sessions per statement, so that it ends well within the query timeout. */
const SESSIONS_PER_STATEMENT = 5_000

interface DueInvoice {
  readonly clientId: string
  readonly month: string
}

/** Thrown when another worker has invoiced the sessions. */
class AlreadyInvoicedError extends Error {}

/**
 * Creates the job that issues the invoices of every month that has ended, oldest first. It searches for sessions without
 * an invoice, so a worker crash loses nothing and downtime of any length is caught up. A unique client and month ensure
 * that one of several workers creates each invoice. A session that ends after its month was invoiced is on the client's
 * next invoice.
 */
export function createMonthlyClose(deps: { db: Db; transact: Transact; now: () => Date; log: Log }) {
  const { db, transact, now, log } = deps

  /**
   * Selects the clients to invoice now. A client whose last month is already invoiced waits for the end of the current
   * month, including late sessions.
   */
  async function findDueInvoices(skipped: ReadonlySet<string>): Promise<DueInvoice[]> {
    const thisMonth = monthOf(now())
    const rows = await db
      .selectFrom('sessions')
      .innerJoinLateral(
        (eb) =>
          eb
            .selectFrom('invoices')
            .select((newest) => newest.fn.max('month').as('month'))
            .whereRef('invoices.client_id', '=', 'sessions.client_id')
            .as('newest'),
        (join) => join.onTrue(),
      )
      .select(['sessions.client_id', 'sessions.ended_at', 'newest.month as newest_month'])
      .where(uninvoiced)
      .where('sessions.ended_at', '<', startOf(thisMonth))
      .where((eb) =>
        eb.or([eb('newest.month', 'is', null), eb('newest.month', '<', addMonths(thisMonth, -1))]),
      )
      .$if(skipped.size > 0, (query) => query.where('sessions.client_id', 'not in', [...skipped]))
      .orderBy('sessions.ended_at')
      .limit(SESSIONS_PER_SCAN)
      .execute()
    const oldest = new Map<string, DueInvoice>()
    for (const { client_id: clientId, ended_at, newest_month } of rows) {
      if (oldest.has(clientId) || ended_at === null) continue
      const endedMonth = monthOf(ended_at)
      const next = newest_month === null ? endedMonth : addMonths(newest_month, 1)
      oldest.set(clientId, { clientId, month: endedMonth > next ? endedMonth : next })
    }
    return [...oldest.values()]
  }

  /** Creates one invoice in one transaction. Returns false when another worker was faster. */
  async function close(due: DueInvoice): Promise<boolean> {
    try {
      return await transact((tx) => issue(tx, due, now()))
    } catch (cause) {
      if (cause instanceof AlreadyInvoicedError) return false
      throw cause
    }
  }

  return {
    /** Issues due invoices, up to the limit of one run. @throws when the database is unreachable */
    async run(): Promise<void> {
      const skipped = new Set<string>()
      for (let attempted = 0; attempted < INVOICES_PER_RUN; ) {
        const due = (await findDueInvoices(skipped)).slice(0, INVOICES_PER_RUN - attempted)
        if (due.length === 0) return
        attempted += due.length
        for (const dueInvoice of due) {
          try {
            if (!(await close(dueInvoice))) skipped.add(dueInvoice.clientId)
          } catch (cause) {
            if (isDatabaseUnreachable(cause)) throw cause
            // An error of one client must not block the invoices of the others.
            log.error({ err: cause, ...dueInvoice }, 'invoice not made')
            skipped.add(dueInvoice.clientId)
          }
        }
      }
    },
  }
}
/** The predicate of the two partial indexes of sessions without an invoice, verbatim. */
const uninvoiced = sql<SqlBool>`sessions.status = 'COMPLETED' and sessions.invoice_id is null
  and sessions.client_charge_cents is not null`

async function issue(tx: Tx, { clientId, month }: DueInvoice, at: Date): Promise<boolean> {
  const opened = await tx.db
    .insertInto('invoices')
    .values({
      id: randomUUID(),
      client_id: clientId,
      month,
      status: 'DRAFT',
      currency: CURRENCY,
      total_cents: 0,
      session_count: 0,
      minutes: 0,
      created_at: at,
    })
    .onConflict((conflict) => conflict.columns(['client_id', 'month']).doNothing())
    .returning('id')
    .executeTakeFirst()
  if (!opened) return false
  const sums = await assignSessions(tx, opened.id, clientId, startOf(addMonths(month, 1)))
  if (sums.session_count === 0) throw new AlreadyInvoicedError()
  const paid = sums.total_cents === 0 // an invoice of zero is paid
  const status = paid ? ('PAID' as const) : ('OPEN' as const)
  await tx.db
    .updateTable('invoices')
    .set({ ...sums, status, issued_at: at, paid_at: paid ? at : null })
    .where('id', '=', opened.id)
    .execute()
  const data = { month, status, currency: CURRENCY, ...sums }
  await audit(tx, {
    at,
    organizationId: clientId,
    actorId: undefined,
    action: 'invoice.closed',
    subject: ['invoice', opened.id],
    data: { client_id: clientId, ...data },
  })
  await tx.notify(at, [
    {
      organizationId: clientId,
      action: 'billing.read',
      type: 'invoice.issued',
      data: { invoice_id: opened.id, ...data },
    },
  ])
  return true
}

type Sums = Pick<Selectable<Tables['invoices']>, 'total_cents' | 'session_count' | 'minutes'>

/** Assigns a client's sessions that ended before `end` to an invoice, and sums them. */
async function assignSessions(tx: Tx, invoiceId: string, clientId: string, end: Date): Promise<Sums> {
  const sums = { total_cents: 0, session_count: 0, minutes: 0 }
  for (let more = true; more; ) {
    const bound = await tx.db
      .selectFrom('sessions')
      .select('ended_at')
      .where(uninvoiced)
      .where('client_id', '=', clientId)
      .where('ended_at', '<', end)
      .orderBy('ended_at')
      .offset(SESSIONS_PER_STATEMENT - 1)
      .limit(1)
      .executeTakeFirst()
    const taken = await tx.db
      // Locks in the same order as the episode store.
      .with('locked', (cte) =>
        cte
          .selectFrom('sessions')
          .select('id')
          .where(uninvoiced)
          .where('client_id', '=', clientId)
          .where('ended_at', bound ? '<=' : '<', bound?.ended_at ?? end)
          .orderBy('id')
          .forNoKeyUpdate(),
      )
      .with('taken', (cte) =>
        cte
          .updateTable('sessions')
          .from('locked')
          .set({ invoice_id: invoiceId })
          .whereRef('sessions.id', '=', 'locked.id')
          .returning(['client_charge_cents', 'billable_minutes']),
      )
      .selectFrom('taken')
      .select([
        sql<number>`count(*)`.as('session_count'),
        sql<number>`coalesce(sum(client_charge_cents), 0)::bigint`.as('total_cents'),
        sql<number>`coalesce(sum(billable_minutes), 0)::bigint`.as('minutes'),
      ])
      .executeTakeFirstOrThrow()
    sums.session_count += taken.session_count
    sums.total_cents += taken.total_cents
    sums.minutes += taken.minutes
    more = bound !== undefined
  }
  return sums
}
