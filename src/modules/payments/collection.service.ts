import { sql } from 'kysely'
import type { Db } from '../../core/database/tables.ts'
import { isDatabaseUnreachable } from '../../core/errors/errors.ts'
import type { Log } from '../../core/log.ts'
import { bookInvoice, EXPAND, type StripeInvoice } from './collection-booking.ts'
import { type CollectionRow, claimNext, enqueueOpenInvoices } from './collection-claim.ts'
import type { Drafts } from './collection-draft.ts'
import { isCachedResponse, isMissing, type StripeClient } from './stripe-client.ts'
import type { StripeEventRef, StripeSync } from './stripe-sync.ts'

/** Interval for reading an invoice from Stripe, because events can be lost. */
const REFRESH_INTERVAL_MS = 6 * 3_600_000
/** Maximum number of invoices that one run of the worker processes. */
const INVOICES_PER_RUN = 100

/**
 * Collects the invoices of the monthly close through Stripe. A worker claims an invoice by advancing its `try_at`. After
 * a crash, the next worker continues from the state in the database and at Stripe.
 */
export function createCollections(deps: {
  stripe: StripeClient
  drafts: Drafts
  stripeSync: StripeSync
  db: Db
  now: () => Date
  log: Log
}) {
  const { stripe, drafts, stripeSync, db, now, log } = deps

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

  async function advance(invoice: CollectionRow): Promise<void> {
    const providerId = invoice.stripe_id ?? (await saveDraftId(invoice, await drafts.open(invoice)))
    try {
      await drafts.issue(invoice, providerId)
    } catch (cause) {
      if (isMissing(cause)) await discardDraft(invoice, providerId)
      throw cause
    }
    await refreshFromStripe(providerId)
    await db
      .updateTable('invoice_collections')
      .set({ attempts: 0, failure: null, try_at: new Date(now().getTime() + REFRESH_INTERVAL_MS) })
      .where('invoice_id', '=', invoice.id)
      .where('try_at', 'is not', null)
      .execute()
  }

  async function attempt(invoice: CollectionRow): Promise<void> {
    try {
      await advance(invoice)
    } catch (cause) {
      if (isDatabaseUnreachable(cause)) throw cause
      if (isCachedResponse(cause)) await rotateRequestKey(invoice)
      log.warn({ err: cause, invoiceId: invoice.id }, 'collecting an invoice failed, will retry')
      const failure = (cause instanceof Error ? cause.message : String(cause)).slice(0, 500)
      await db
        .updateTable('invoice_collections')
        .set({ failure })
        .where('invoice_id', '=', invoice.id)
        .execute()
    }
  }

  return {
    /** Handles a Stripe event about an invoice. */
    async refreshFromStripe(providerId: string, event: StripeEventRef): Promise<void> {
      await refreshFromStripe(providerId, event)
    },

    /** Processes due invoices, up to the limit of one run. @throws if the database is unreachable */
    async runDue(): Promise<void> {
      await enqueueOpenInvoices(db, now(), INVOICES_PER_RUN)
      for (let attempted = 0; attempted < INVOICES_PER_RUN; attempted++) {
        const invoice = await claimNext(db, now())
        if (!invoice) return
        await attempt(invoice)
      }
    },
  }
}
export type Collections = ReturnType<typeof createCollections>
