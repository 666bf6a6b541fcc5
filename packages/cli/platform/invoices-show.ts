import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { isWhole, theOne } from '../ids.ts'
import { money, when } from '../views.ts'

/** One invoice with its lines. */
export async function run(cli: Context, given: string): Promise<void> {
  const params = { path: { id: await invoiceId(cli, given) } }
  const invoice = await answerOf(cli.rest.GET('/api/client/invoices/{id}', { params }))
  const { out } = cli
  out.result(invoice, () => {
    out.record([
      ['Month', invoice.month],
      ['Status', invoice.status],
      ['Total', money(invoice.total_cents, invoice.currency)],
      ['Minutes', invoice.minutes],
      ['Issued', when(invoice.issued_at)],
      ['Paid', when(invoice.paid_at)],
      ['Page', invoice.hosted_url ?? undefined],
    ])
    out.table(invoice.lines, [
      { title: 'SESSION', value: ({ session_id }) => session_id, whole: true },
      { title: 'ROBOT', value: ({ robot_name }) => robot_name },
      { title: 'STARTED', value: ({ started_at }) => when(started_at) },
      { title: 'MINUTES', value: ({ minutes }) => minutes, right: true },
      { title: 'AMOUNT', value: ({ amount_cents }) => money(amount_cents, invoice.currency), right: true },
    ])
    const more = invoice.session_count - invoice.lines.length
    if (more > 0) out.note(`And ${more} more sessions.`)
  })
}

async function invoiceId(cli: Context, given: string): Promise<string> {
  if (isWhole(given)) return given.toLowerCase()
  const { invoices } = await answerOf(cli.rest.GET('/api/client/invoices'))
  return theOne(
    invoices.map(({ id, month }) => ({ id, name: month })),
    given,
    'invoice',
    'invoices list',
  ).id
}
