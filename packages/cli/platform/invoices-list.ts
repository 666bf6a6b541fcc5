import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { money, when } from '../views.ts'

/** A client's invoices. */
export async function run(cli: Context): Promise<void> {
  const { invoices } = await answerOf(cli.rest.GET('/api/client/invoices'))
  cli.out.list(
    invoices,
    [
      { title: 'ID', value: ({ id }) => id, whole: true },
      { title: 'MONTH', value: ({ month }) => month },
      { title: 'STATUS', value: ({ status }) => status },
      { title: 'TOTAL', value: ({ total_cents, currency }) => money(total_cents, currency), right: true },
      { title: 'SESSIONS', value: ({ session_count }) => session_count, right: true },
      { title: 'ISSUED', value: ({ issued_at }) => when(issued_at) },
      { title: 'PAID', value: ({ paid_at }) => when(paid_at) },
    ],
    'No invoices yet.',
  )
}
