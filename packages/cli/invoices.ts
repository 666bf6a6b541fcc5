import { answerOf } from '@wheelhouse/sdk'
import type { Command } from 'commander'
import type { CreateAction } from './lib/action.ts'
import type { Context } from './lib/context.ts'
import { idOf } from './lib/ids.ts'
import { formatMoney, formatTime } from './lib/views.ts'

export const commands = { invoices: declareInvoices }

/** Declares `wheelhouse invoices …`. */
function declareInvoices(invoices: Command, action: CreateAction): void {
  invoices.command('list').description('list your invoices, newest first').action(action(list))
  invoices
    .command('show')
    .description('show an invoice with its sessions')
    .argument('<invoice>', 'its id, a prefix of the id, or its month, such as 2026-10')
    .action(action(show))
}

/** Prints the invoices of a client. */
async function list(cli: Context): Promise<void> {
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

/** Prints one invoice with its lines. */
async function show(cli: Context, idOrMonth: string): Promise<void> {
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
  return await idOf(idOrMonth, 'invoice', 'invoices list', async () => {
    const { invoices } = await answerOf(cli.rest.GET('/api/client/invoices'))
    return invoices.map(({ id, month: name }) => ({ id, name }))
  })
}
