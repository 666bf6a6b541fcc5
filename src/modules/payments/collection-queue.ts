import { type Selectable, sql } from 'kysely'
import { z } from 'zod'
import type { Db, Tables } from '../../core/database/tables.ts'
import type { Transact } from '../../core/events/transactor.ts'
import type { Queue } from '../../core/jobs/queue.ts'

const CollectionJob = z.strictObject({ invoiceId: z.uuid() })
export type CollectionJob = z.infer<typeof CollectionJob>

/** The queue of invoices that Stripe collects. An invoice has one job until it is paid or voided. */
export const INVOICE_COLLECTIONS: Queue<CollectionJob> = {
  name: 'invoice-collections',
  description: 'Collects an invoice through Stripe and follows its state',
  undiscardable: true,
  data: CollectionJob,
  order: 'any',
  concurrency: 2,
  pollMs: 5_000,
  retry: { limit: 'unlimited', delaySeconds: 60, maxDelaySeconds: 3_600 },
  expireSeconds: 600,
  heartbeatSeconds: 30,
  keepCompletedSeconds: 86_400,
}

const INVOICES_PER_STATEMENT = 100

/** An invoice whose collection is attempted. */
export type CollectionRow = Pick<
  Selectable<Tables['invoices']>,
  'id' | 'client_id' | 'month' | 'total_cents' | 'session_count' | 'created_at'
> &
  Pick<Selectable<Tables['invoice_collections']>, 'request_key' | 'stripe_id' | 'attempts'> & {
    /** Whether the client has saved a payment method. */
    readonly chargeable: boolean
  }

/** Enqueues all open invoices that have no collection yet: new ones, and those from before payments were configured. */
export async function enqueueOpenInvoices(transact: Transact, now: () => Date): Promise<void> {
  for (;;) {
    const enqueued = await transact(async (tx) => {
      const at = now()
      const { rows } = await sql<{ invoice_id: string }>`
        insert into invoice_collections (invoice_id, request_key, created_at)
        select id, gen_random_uuid(), ${at}::timestamptz from invoices
        where status = 'OPEN' and total_cents > 0
          and not exists (select from invoice_collections where invoice_id = invoices.id)
        order by issued_at limit ${INVOICES_PER_STATEMENT}
        on conflict (invoice_id) do nothing
        returning invoice_id`.execute(tx.db)
      for (const { invoice_id: invoiceId } of rows)
        tx.enqueue({ queue: INVOICE_COLLECTIONS, data: { invoiceId } })
      return rows.length
    })
    if (enqueued < INVOICES_PER_STATEMENT) return
  }
}

/** Counts an attempt. Returns undefined when the invoice is paid or voided. */
export async function beginCollection(db: Db, invoiceId: string): Promise<CollectionRow | undefined> {
  return await db
    .with('started', (cte) =>
      cte
        .updateTable('invoice_collections')
        .from('invoices')
        .set({ attempts: sql`invoice_collections.attempts + 1` })
        .whereRef('invoices.id', '=', 'invoice_collections.invoice_id')
        .where('invoice_id', '=', invoiceId)
        .where('status', 'not in', ['PAID', 'VOID'])
        .returning([
          'invoice_collections.invoice_id',
          'invoice_collections.request_key',
          'invoice_collections.stripe_id',
          'invoice_collections.attempts',
        ]),
    )
    .selectFrom('started')
    .innerJoin('invoices', 'invoices.id', 'started.invoice_id')
    .leftJoin('client_profiles', 'client_profiles.organization_id', 'invoices.client_id')
    .select(['invoices.id', 'invoices.client_id', 'month', 'total_cents', 'session_count'])
    .select(['invoices.created_at', 'request_key', 'stripe_id', 'attempts'])
    .select((eb) => eb('payment_method_at', 'is not', null).$castTo<boolean>().as('chargeable'))
    .executeTakeFirst()
}
