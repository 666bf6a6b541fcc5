import { Button, Group, Table, Text } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import type { Schemas } from '@wheelhouse/sdk'
import { DataTable, MoreButton } from '../base/data-table.tsx'
import { dateTime, duration, money } from '../base/format.ts'
import { LinkAnchor, LinkButton } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { ResourcePage } from '../base/section.tsx'
import { t } from '../texts/texts.ts'
import {
  HostedLink,
  type Invoice,
  type InvoiceLine,
  InvoiceStatusLabel,
  meaningOf,
  monthName,
  useInvoice,
} from './invoices.tsx'
import './print.css'
import { Note } from '../base/states.tsx'

/** Shows one invoice with the cost of each session. Printable. */
export function InvoicePage() {
  const { invoiceId } = useParams({ from: '/shell/invoices/$invoiceId' })
  const query = useInvoice(invoiceId)
  return (
    <ResourcePage
      query={query}
      kind={t('billing.invoice.kind')}
      back={<LinkButton to="/invoices">{t('billing.invoice.all')}</LinkButton>}
    >
      {({ pages }) => {
        const invoice = pages.at(-1)
        if (!invoice) return null
        const lines = pages.flatMap((page) => page.lines)
        return (
          <Page
            title={t('billing.invoice.title', { month: monthName(invoice.month) })}
            description={
              invoice.issued_at
                ? t('billing.invoice.issued', { date: dateTime(invoice.issued_at) })
                : t('billing.invoice.notIssued')
            }
            actions={<Actions complete={!query.hasNextPage} />}
          >
            <Group>
              <InvoiceStatusLabel status={invoice.status} />
              <Text>{meaningOf(invoice)}</Text>
              <HostedLink invoice={invoice} />
            </Group>
            {invoice.billing_name && (
              <Text>{t('billing.invoice.billedTo', { recipient: billedTo(invoice) })}</Text>
            )}
            <InvoiceLines invoice={invoice} lines={lines} />
            <MoreButton query={query}>
              {t('billing.invoice.moreLines', { loaded: lines.length, total: invoice.session_count })}
            </MoreButton>
          </Page>
        )
      }}
    </ResourcePage>
  )
}

/** Returns the billing address that was valid when the invoice was issued. */
const billedTo = ({ billing_name, billing_country, billing_vat_id }: Schemas['Invoice']) =>
  [billing_name, billing_country, billing_vat_id].filter((part) => part !== null).join(', ')

const Actions = ({ complete }: { complete: boolean }) => (
  <Group data-no-print>
    <LinkButton to="/invoices" variant="default">
      {t('billing.invoice.all')}
    </LinkButton>
    {/* A partial invoice on paper looks complete. */}
    <Button
      onClick={() => window.print()}
      disabled={!complete}
      title={complete ? undefined : t('billing.invoice.loadFirst')}
    >
      {t('billing.invoice.print')}
    </Button>
  </Group>
)

/** Returns seconds as `2 min 10 s`, or an empty string for 0. */
function seconds(count: number): string {
  if (count === 0) return ''
  const [minutes, rest] = [Math.floor(count / 60), count % 60]
  if (minutes === 0) return t('billing.lines.seconds', { seconds: rest })
  if (rest === 0) return t('billing.lines.minutes', { minutes })
  return t('billing.lines.minutesAndSeconds', { minutes, seconds: rest })
}

const sum = (lines: readonly InvoiceLine[], field: 'paused_seconds' | 'outage_seconds') =>
  lines.reduce((total, line) => total + line[field], 0)

/** Lists the sessions of an invoice and their totals. */
const InvoiceLines = ({ invoice, lines }: { invoice: Invoice; lines: readonly InvoiceLine[] }) => (
  <>
    <DataTable
      label={t('billing.lines.label')}
      minWidth={760}
      columns={[
        t('billing.lines.session'),
        t('billing.lines.robot'),
        t('billing.lines.operator'),
        t('billing.lines.minutesColumn'),
        t('billing.lines.paused'),
        t('billing.lines.offline'),
        t('billing.lines.perMinute'),
        t('billing.lines.amount'),
      ]}
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
    <Note>{t('billing.lines.rule', { time: duration(invoice.minutes) })}</Note>
  </>
)

/** Sums the lines. Pauses and outages are summed only when all lines are loaded. */
function Sums({ invoice, lines }: { invoice: Invoice; lines: readonly InvoiceLine[] }) {
  const all = lines.length === invoice.session_count
  return (
    <Table.Tr>
      <Table.Th scope="row" colSpan={3}>
        {t('billing.lines.sessions', { count: invoice.session_count })}
      </Table.Th>
      <Table.Td fw={600}>{invoice.minutes}</Table.Td>
      <Table.Td>{all && seconds(sum(lines, 'paused_seconds'))}</Table.Td>
      <Table.Td>{all && seconds(sum(lines, 'outage_seconds'))}</Table.Td>
      <Table.Td />
      <Table.Td fw={600}>{money(invoice.total_cents, invoice.currency)}</Table.Td>
    </Table.Tr>
  )
}
