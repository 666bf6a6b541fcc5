import { sql } from 'kysely'
import type { Db } from '../../core/database/tables.ts'
import { isDatabaseAway } from '../../core/errors/errors.ts'
import type { Log } from '../../core/log.ts'
import { bookInvoice, EXPANDED, type ProviderInvoice } from './collection-booking.ts'
import { type CollectionRow, claim, enlist } from './collection-claim.ts'
import type { Drafts } from './collection-draft.ts'
import { isKeptAnswer, isMissing, type Provider } from './provider.ts'
import type { ProviderFacts, ProviderNews } from './provider-facts.ts'

/** Between two looks at an invoice whose events tell how it stands: they may be lost. */
const LOOK_EVERY_MS = 6 * 3_600_000
/** Invoices worked on by one run of the worker. */
const INVOICES_PER_RUN = 100

/**
 * Has the provider collect the invoices of the monthly close. Who works on one has claimed it by moving its `try_at`;
 * whoever comes after a crash goes on from what is written here and at the provider.
 */
export function createCollections(parts: {
  provider: Provider
  drafts: Drafts
  facts: ProviderFacts
  db: Db
  now: () => Date
  log: Log
}) {
  const { provider, drafts, facts, db, now, log } = parts

  const learn = (providerId: string, event?: ProviderNews): Promise<ProviderInvoice> =>
    facts.learn<ProviderInvoice>(
      providerId,
      () => provider.invoices.retrieve(providerId, { expand: EXPANDED }),
      (tx, theirs) => bookInvoice(tx, theirs, now()),
      event,
    )

  /** Of several drafts, were there ever two, the one that is written down first is the invoice. */
  async function keep(invoice: CollectionRow, draftId: string): Promise<string> {
    const { provider_id } = await db
      .updateTable('invoice_collections')
      .set((eb) => ({ provider_id: eb.fn.coalesce('provider_id', eb.val(draftId)) }))
      .where('invoice_id', '=', invoice.id)
      .returning('provider_id')
      .executeTakeFirstOrThrow()
    return provider_id as string
  }

  /** Whatever is asked with the same keys would be answered the same, for a day. What is there is found without them. */
  const takeNewKeys = ({ id, request_key }: CollectionRow) =>
    db
      .updateTable('invoice_collections')
      .set({ request_key: sql`gen_random_uuid()` })
      .where('invoice_id', '=', id)
      .where('request_key', '=', request_key)
      .execute()

  /** Somebody deleted the draft at the provider: it is made anew. */
  const startOver = (invoice: CollectionRow, draftId: string) =>
    db
      .updateTable('invoice_collections')
      .set({ provider_id: null })
      .where('invoice_id', '=', invoice.id)
      .where('provider_id', '=', draftId)
      .execute()

  async function advance(invoice: CollectionRow): Promise<void> {
    const providerId = invoice.provider_id ?? (await keep(invoice, await drafts.open(invoice)))
    try {
      await drafts.issue(invoice, providerId)
    } catch (cause) {
      if (isMissing(cause)) await startOver(invoice, providerId)
      throw cause
    }
    await learn(providerId)
    await db
      .updateTable('invoice_collections')
      .set({ attempts: 0, failure: null, try_at: new Date(now().getTime() + LOOK_EVERY_MS) })
      .where('invoice_id', '=', invoice.id)
      .where('try_at', 'is not', null)
      .execute()
  }

  async function attempt(invoice: CollectionRow): Promise<void> {
    try {
      await advance(invoice)
    } catch (cause) {
      if (isDatabaseAway(cause)) throw cause
      if (isKeptAnswer(cause)) await takeNewKeys(invoice)
      log.warn({ err: cause, invoiceId: invoice.id }, 'invoice not collected, will be tried again')
      const failure = (cause instanceof Error ? cause.message : String(cause)).slice(0, 500)
      await db
        .updateTable('invoice_collections')
        .set({ failure })
        .where('invoice_id', '=', invoice.id)
        .execute()
    }
  }

  return {
    /** An event of the provider says that something about this invoice has changed. */
    async learn(providerId: string, event: ProviderNews): Promise<void> {
      await learn(providerId, event)
    },

    /** Works on what is due, within bounds; call it again and again. Throws when the database is away. */
    async runDue(): Promise<void> {
      await enlist(db, now(), INVOICES_PER_RUN)
      for (let tried = 0; tried < INVOICES_PER_RUN; tried++) {
        const invoice = await claim(db, now())
        if (!invoice) return
        await attempt(invoice)
      }
    },
  }
}
export type Collections = ReturnType<typeof createCollections>
