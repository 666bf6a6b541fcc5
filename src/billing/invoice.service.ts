import type { Db } from '../db/orm.ts'

/** Ten years of months. */
const LIST_LIMIT = 120

/** Reading invoices. They are made by the monthly close. */
export function createInvoices({ db }: { db: Db }) {
  return {
    /** A client's invoices, newest first. */
    list: (clientId: string) =>
      db
        .selectFrom('invoices')
        .selectAll()
        .where('client_id', '=', clientId)
        .orderBy('month', 'desc')
        .limit(LIST_LIMIT)
        .execute(),
  }
}
export type Invoices = ReturnType<typeof createInvoices>
