import { type Selectable, sql } from 'kysely'
import type { Db, Tables } from '../../core/database/tables.ts'

/** Delay after a failed step. It doubles with each failure, up to an hour. */
const RETRY_MS = 60_000
const MAX_RETRY_MS = 3_600_000

/** An invoice that a worker has claimed. */
export type CollectionRow = Pick<
  Selectable<Tables['invoices']>,
  'id' | 'client_id' | 'month' | 'total_cents' | 'session_count' | 'created_at'
> &
  Pick<Selectable<Tables['invoice_collections']>, 'request_key' | 'stripe_id' | 'attempts'> & {
    /** Whether the client has saved a payment method. */
    readonly chargeable: boolean
  }

/** Enqueues open invoices that are not enqueued yet, including those from before payments were configured. */
export async function enqueueOpenInvoices(db: Db, at: Date, limit: number): Promise<void> {
  await sql`
    insert into invoice_collections (invoice_id, request_key, try_at, created_at)
    select id, gen_random_uuid(), ${at}::timestamptz, ${at}::timestamptz from invoices
    where status = 'OPEN' and total_cents > 0
      and not exists (select from invoice_collections where invoice_id = invoices.id)
    order by issued_at limit ${limit}
    on conflict (invoice_id) do nothing`.execute(db)
}

/** Claims the invoice that has been due longest. Concurrent workers claim different invoices. */
export async function claimNext(db: Db, at: Date): Promise<CollectionRow | undefined> {
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
          try_at: sql`${at}::timestamptz + least(${RETRY_MS} * 2 ^ least(invoice_collections.attempts, 6), ${MAX_RETRY_MS}) * interval '1 millisecond'`,
        })
        .whereRef('invoice_collections.invoice_id', '=', 'due.invoice_id')
        .returning([
          'invoice_collections.invoice_id',
          'invoice_collections.request_key',
          'invoice_collections.stripe_id',
          'invoice_collections.attempts',
        ]),
    )
    .selectFrom('claimed')
    .innerJoin('invoices', 'invoices.id', 'claimed.invoice_id')
    .leftJoin('client_profiles', 'client_profiles.user_id', 'invoices.client_id')
    .select(['invoices.id', 'invoices.client_id', 'month', 'total_cents', 'session_count'])
    .select(['invoices.created_at', 'request_key', 'stripe_id', 'attempts'])
    .select((eb) => eb('payment_method_at', 'is not', null).$castTo<boolean>().as('chargeable'))
    .executeTakeFirst()
}
