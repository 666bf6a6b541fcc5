import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { findUnique, isFullId } from '../ids.ts'
import { formatMoney, formatTime } from '../views.ts'

/** Prints one invoice with its lines. */
export async function run(cli: Context, idOrMonth: string): Promise<void> {
  const params = { path: { id: await invoiceId(cli, idOrMonth) } }
  const invoice = await answerOf(cli.rest.GET('/api/client/invoices/{id}', { params }))
  const { out } = cli
  out.result(invoice, () => {
    out.record([
      ['Month', invoice.month],
      ['Status', invoice.status],
      ['Total', formatMoney(invoice.total_cents, invoice.currency)],
      ['Minutes', invoice.minutes],
      ['Issued', formatTime(invoice.issued_at)],
      ['Paid', formatTime(invoice.paid_at)],
      ['Page', invoice.hosted_url ?? undefined],
    ])
    out.table(invoice.lines, [
      { title: 'SESSION', value: ({ session_id }) => session_id, noTruncate: true },
      { title: 'ROBOT', value: ({ robot_name }) => robot_name },
      { title: 'STARTED', value: ({ started_at }) => formatTime(started_at) },
      { title: 'MINUTES', value: ({ minutes }) => minutes, right: true },
      {
        title: 'AMOUNT',
        value: ({ amount_cents }) => formatMoney(amount_cents, invoice.currency),
        right: true,
      },
    ])
    const more = invoice.session_count - invoice.lines.length
    if (more > 0) out.note(`The invoice has ${more} more sessions.`)
  })
}

async function invoiceId(cli: Context, idOrMonth: string): Promise<string> {
  if (isFullId(idOrMonth)) return idOrMonth.toLowerCase()
  const { invoices } = await answerOf(cli.rest.GET('/api/client/invoices'))
  return findUnique(
    invoices.map(({ id, month }) => ({ id, name: month })),
    idOrMonth,
    'invoice',
    'invoices list',
  ).id
}
