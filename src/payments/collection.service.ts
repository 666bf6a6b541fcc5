import { type Selectable, sql } from 'kysely'
import type { Db, Tables } from '../db/orm.ts'
import { isDatabaseAway } from '../http/errors.ts'
import type { Log } from '../log.ts'
import { bookInvoice, EXPANDED, type ProviderInvoice } from './collection.booking.ts'
import type { Drafts } from './collection.draft.ts'
import { isKeptAnswer, isMissing, type Provider } from './provider.ts'
import type { ProviderFacts, ProviderNews } from './provider-facts.ts'

/** After a step that did not work; then later and later, at last hourly. */
const RETRY_MS = 60_000
const LONGEST_RETRY_MS = 3_600_000
/** Between two looks at an invoice whose events tell how it stands: they may be lost. */
const LOOK_EVERY_MS = 6 * 3_600_000
/** Invoices worked on by one run of the worker. */
const INVOICES_PER_RUN = 100

/** An invoice that somebody has claimed to work on. */
export type CollectionRow = Pick<
  Selectable<Tables['invoices']>,
  'id' | 'client_id' | 'month' | 'total_cents' | 'session_count' | 'created_at'
> &
  Pick<Selectable<Tables['invoice_collections']>, 'request_key' | 'provider_id' | 'attempts'> & {
    /** Whether the client has saved a payment method. */
    readonly chargeable: boolean
  }

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
      await enlist(db, now())
      for (let tried = 0; tried < INVOICES_PER_RUN; tried++) {
        const invoice = await claim(db, now())
        if (!invoice) return
        await attempt(invoice)
      }
    },
  }
}
export type Collections = ReturnType<typeof createCollections>

/** Takes up invoices that the monthly close has made since; also those of the time before there was a provider. */
async function enlist(db: Db, at: Date): Promise<void> {
  await sql`
    insert into invoice_collections (invoice_id, request_key, try_at, created_at)
    select id, gen_random_uuid(), ${at}::timestamptz, ${at}::timestamptz from invoices
    where status = 'OPEN' and total_cents > 0
      and not exists (select from invoice_collections where invoice_id = invoices.id)
    order by issued_at limit ${INVOICES_PER_RUN}
    on conflict (invoice_id) do nothing`.execute(db)
}

/** Takes the invoice that has waited longest. Of several workers one gets it. */
async function claim(db: Db, at: Date): Promise<CollectionRow | undefined> {
  return await db
    .with('due', (cte) =>
      cte
        .selectFrom('invoice_collections')
        .select('invoice_id')
        .where('try_at', '<=', at)
        .orderBy('try_at')
        .limit(1)
        .forUpdate()
        .skipLocked(),
    )
    .with('claimed', (cte) =>
      cte
        .updateTable('invoice_collections')
        .from('due')
        .set({
          attempts: sql`invoice_collections.attempts + 1`,
          try_at: sql`${at}::timestamptz + least(${RETRY_MS} * 2 ^ least(invoice_collections.attempts, 6), ${LONGEST_RETRY_MS}) * interval '1 millisecond'`,
        })
        .whereRef('invoice_collections.invoice_id', '=', 'due.invoice_id')
        .returning([
          'invoice_collections.invoice_id',
          'invoice_collections.request_key',
          'invoice_collections.provider_id',
          'invoice_collections.attempts',
        ]),
    )
    .selectFrom('claimed')
    .innerJoin('invoices', 'invoices.id', 'claimed.invoice_id')
    .leftJoin('client_profiles', 'client_profiles.user_id', 'invoices.client_id')
    .select(['invoices.id', 'invoices.client_id', 'month', 'total_cents', 'session_count'])
    .select(['invoices.created_at', 'request_key', 'provider_id', 'attempts'])
    .select((eb) => eb('payment_method_at', 'is not', null).$castTo<boolean>().as('chargeable'))
    .executeTakeFirst()
}
