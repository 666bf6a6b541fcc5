import { Table, Text } from '@mantine/core'
import { DataTable } from '../ui/data-table.tsx'
import { dateTime, duration, money } from '../ui/format.ts'
import { LinkAnchor } from '../ui/links.tsx'
import type { Invoice, InvoiceLine } from './use-invoices.ts'

/** Returns seconds as `2 min 10 s`, or an empty string for 0. */
function seconds(count: number): string {
  if (count === 0) return ''
  const minutes = Math.floor(count / 60)
  return [minutes > 0 && `${minutes} min`, count % 60 > 0 && `${count % 60} s`].filter(Boolean).join(' ')
}

const sum = (lines: readonly InvoiceLine[], field: 'paused_seconds' | 'outage_seconds') =>
  lines.reduce((total, line) => total + line[field], 0)

/** Lists the sessions of an invoice and their totals. */
export const InvoiceLines = ({ invoice, lines }: { invoice: Invoice; lines: readonly InvoiceLine[] }) => (
  <>
    <DataTable
      label="Invoice lines"
      minWidth={760}
      columns={['Session', 'Robot', 'Operator', 'Minutes', 'Paused', 'Robot offline', 'Per minute', 'Amount']}
      foot={<Sums invoice={invoice} lines={lines} />}
    >
      {lines.map((line) => (
        <Table.Tr key={line.session_id}>
          <Table.Td>
            <LinkAnchor to="/sessions/$sessionId" params={{ sessionId: line.session_id }} inherit>
              {dateTime(line.started_at)}
            </LinkAnchor>
          </Table.Td>
          <Table.Td>{line.robot_name}</Table.Td>
          <Table.Td>{line.operator_name}</Table.Td>
          <Table.Td>{line.minutes}</Table.Td>
          <Table.Td>{seconds(line.paused_seconds)}</Table.Td>
          <Table.Td>{seconds(line.outage_seconds)}</Table.Td>
          <Table.Td>{money(line.rate_cents_per_minute, invoice.currency)}</Table.Td>
          <Table.Td>{money(line.amount_cents, invoice.currency)}</Table.Td>
        </Table.Tr>
      ))}
    </DataTable>
    <Text size="sm" c="dimmed">
      Each started minute of control is charged ({duration(invoice.minutes)} in total). Pauses and time with
      the robot offline are free.
    </Text>
  </>
)

/** Sums the lines. Pauses and outages are summed only when all lines are loaded. */
function Sums({ invoice, lines }: { invoice: Invoice; lines: readonly InvoiceLine[] }) {
  const all = lines.length === invoice.session_count
  return (
    <Table.Tr>
      <Table.Th scope="row" colSpan={3}>
        {invoice.session_count === 1 ? '1 session' : `${invoice.session_count} sessions`}
      </Table.Th>
      <Table.Td fw={600}>{invoice.minutes}</Table.Td>
      <Table.Td>{all && seconds(sum(lines, 'paused_seconds'))}</Table.Td>
      <Table.Td>{all && seconds(sum(lines, 'outage_seconds'))}</Table.Td>
      <Table.Td />
      <Table.Td fw={600}>{money(invoice.total_cents, invoice.currency)}</Table.Td>
    </Table.Tr>
  )
}
