import type { Db } from '../../core/database/tables.ts'
import { notFound } from '../../core/errors/errors.ts'
import { sessionLines } from './invoice-lines.ts'

/** Ten years of monthly invoices. */
const LIST_LIMIT = 120

/** Creates the service that reads invoices. The monthly close issues them. */
export function createInvoices({ db }: { db: Db }) {
  return {
    /** Lists a client's invoices, newest first. */
    list: (clientId: string) =>
      db
        .selectFrom('invoices')
        .selectAll()
        .where('client_id', '=', clientId)
        .orderBy('month', 'desc')
        .limit(LIST_LIMIT)
        .execute(),

    /** Returns one of a client's invoices with a page of its sessions. @throws 404 when it is another client's */
    async read(clientId: string, id: string, page: { limit: number; offset: number }) {
      const invoice = await db
        .selectFrom('invoices')
        .selectAll()
        .where('id', '=', id)
        .where('client_id', '=', clientId)
        .executeTakeFirst()
      if (!invoice) throw notFound('Invoice')
      return { invoice, lines: await sessionLines(db, id, page) }
    },
  }
}
export type Invoices = ReturnType<typeof createInvoices>
