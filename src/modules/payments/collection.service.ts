import { sql } from 'kysely'
import type { Db } from '../../core/database/tables.ts'
import { isDatabaseUnreachable } from '../../core/errors/errors.ts'
import type { Transact } from '../../core/events/transactor.ts'
import { type Attempt, RetryAt } from '../../core/jobs/queue.ts'
import type { Log } from '../../core/log.ts'
import { bookInvoice, EXPAND, type StripeInvoice } from './collection-booking.ts'
import type { Drafts } from './collection-draft.ts'
import {
  beginCollection,
  type CollectionJob,
  type CollectionRow,
  INVOICE_COLLECTIONS,
} from './collection-queue.ts'
import { isCachedResponse, isMissing, type StripeClient } from './stripe-client.ts'
import type { StripeEventRef, StripeSync } from './stripe-sync.ts'

/** Interval for reading an invoice from Stripe, because events can be lost. */
const REFRESH_INTERVAL_MS = 6 * 3_600_000
/** Delay after a failed step. It doubles with each failure, up to an hour. */
const RETRY_MS = 60_000
/** Longest delay after a failed step of a collection. */
const MAX_RETRY_MS = 3_600_000

/**
 * Collects the invoices of the monthly close through Stripe. After a crash, the next attempt continues from the state in the
 * database and at Stripe.
 */
export function createCollections(deps: {
  stripe: StripeClient
  drafts: Drafts
  stripeSync: StripeSync
  db: Db
  transact: Transact
  now: () => Date
  log: Log
}) {
  const { stripe, drafts, stripeSync, db, transact, now, log } = deps

  const refreshFromStripe = (providerId: string, event?: StripeEventRef): Promise<StripeInvoice> =>
    stripeSync.refreshFromStripe<StripeInvoice>(
      providerId,
      () => stripe.invoices.retrieve(providerId, { expand: EXPAND }),
      (tx, stripeInvoice) => bookInvoice(tx, stripeInvoice, now()),
      event,
    )

  /** Saves the draft's id unless one is saved. Returns the saved id, so that a second draft is never used. */
  async function saveDraftId(invoice: CollectionRow, draftId: string): Promise<string> {
    const { stripe_id } = await db
      .updateTable('invoice_collections')
      .set((eb) => ({ stripe_id: eb.fn.coalesce('stripe_id', eb.val(draftId)) }))
      .where('invoice_id', '=', invoice.id)
      .returning('stripe_id')
      .executeTakeFirstOrThrow()
    return stripe_id as string
  }

  /** Changes the idempotency keys, because Stripe repeats a cached response for a day. */
  const rotateRequestKey = ({ id, request_key }: CollectionRow) =>
    db
      .updateTable('invoice_collections')
      .set({ request_key: sql`gen_random_uuid()` })
      .where('invoice_id', '=', id)
      .where('request_key', '=', request_key)
      .execute()

  /** Forgets a draft that was deleted at Stripe. The next attempt creates another one. */
  const discardDraft = (invoice: CollectionRow, draftId: string) =>
    db
      .updateTable('invoice_collections')
      .set({ stripe_id: null })
      .where('invoice_id', '=', invoice.id)
      .where('stripe_id', '=', draftId)
      .execute()

  /** Takes the next steps of a collection. */
  async function advance(invoice: CollectionRow): Promise<void> {
    const providerId = invoice.stripe_id ?? (await saveDraftId(invoice, await drafts.open(invoice)))
    try {
      await drafts.issue(invoice, providerId)
    } catch (cause) {
      if (isMissing(cause)) await discardDraft(invoice, providerId)
      throw cause
    }
    await refreshFromStripe(providerId)
  }

  /** Completes the job. Enqueues the next one in the same transaction, unless the invoice is paid or voided. */
  const completeStep = (attempt: Attempt<CollectionJob>): Promise<void> =>
    transact(async (tx) => {
      const { invoiceId } = attempt.data
      await tx.db
        .updateTable('invoice_collections')
        .set({ attempts: 0, failure: null })
        .where('invoice_id', '=', invoiceId)
        .execute()
      const { status } = await tx.db
        .selectFrom('invoices')
        .select('status')
        .where('id', '=', invoiceId)
        .executeTakeFirstOrThrow()
      if (status !== 'PAID' && status !== 'VOID') {
        const startAt = new Date(now().getTime() + REFRESH_INTERVAL_MS)
        tx.enqueue({ queue: INVOICE_COLLECTIONS, data: { invoiceId }, startAt })
      }
      await attempt.complete(tx)
    })

  /** Stores why a step failed. Returns what makes the job run again. */
  async function recordFailure(invoice: CollectionRow, cause: unknown): Promise<RetryAt> {
    if (isCachedResponse(cause)) await rotateRequestKey(invoice)
    log.warn({ err: cause, invoiceId: invoice.id }, 'collecting an invoice failed, will retry')
    const failure = (cause instanceof Error ? cause.message : String(cause)).slice(0, 500)
    await db
      .updateTable('invoice_collections')
      .set({ failure })
      .where('invoice_id', '=', invoice.id)
      .execute()
    const delayMs = Math.min(RETRY_MS * 2 ** Math.min(invoice.attempts - 1, 6), MAX_RETRY_MS)
    return new RetryAt(new Date(now().getTime() + delayMs), failure)
  }

  return {
    /** Handles a Stripe event about an invoice. */
    async refreshFromStripe(providerId: string, event: StripeEventRef): Promise<void> {
      await refreshFromStripe(providerId, event)
    },

    /** Runs the job of an invoice. @throws RetryAt if a step fails; the error of the database if it is unreachable */
    async runJob(attempt: Attempt<CollectionJob>): Promise<void> {
      const invoice = await beginCollection(db, attempt.data.invoiceId)
      if (!invoice) return
      try {
        await advance(invoice)
      } catch (cause) {
        throw isDatabaseUnreachable(cause) ? cause : await recordFailure(invoice, cause)
      }
      await completeStep(attempt)
    },
  }
}
export type Collections = ReturnType<typeof createCollections>
