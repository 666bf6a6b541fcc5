import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { formatMoney, formatTime } from '../views.ts'

/** Prints the invoices of a client. */
export async function run(cli: Context): Promise<void> {
  const { invoices } = await answerOf(cli.rest.GET('/api/client/invoices'))
  cli.out.list(
    invoices,
    [
      { title: 'ID', value: ({ id }) => id, noTruncate: true },
      { title: 'MONTH', value: ({ month }) => month },
      { title: 'STATUS', value: ({ status }) => status },
      {
        title: 'TOTAL',
        value: ({ total_cents, currency }) => formatMoney(total_cents, currency),
        right: true,
      },
      { title: 'SESSIONS', value: ({ session_count }) => session_count, right: true },
      { title: 'ISSUED', value: ({ issued_at }) => formatTime(issued_at) },
      { title: 'PAID', value: ({ paid_at }) => formatTime(paid_at) },
    ],
    'No invoices yet.',
  )
}
