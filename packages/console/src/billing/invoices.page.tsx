import { Table, Text } from '@mantine/core'
import { ClientProfileForm } from '../profiles/client-profile-form.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { DescriptionItem, DescriptionList } from '../ui/description-list.tsx'
import { duration, money } from '../ui/format.ts'
import { LinkAnchor } from '../ui/links.tsx'
import { Page } from '../ui/page.tsx'
import { Section } from '../ui/section.tsx'
import { Empty, QueryView } from '../ui/states.tsx'
import { HostedLink } from './hosted-link.tsx'
import { InvoiceStatusBadge, monthName } from './invoice-status.tsx'
import { PaymentSetup } from './payment-setup.tsx'
import { Prices } from './prices.tsx'
import { type Invoice, useInvoices } from './use-invoices.ts'

/** Invoices, and everything about paying them. */
export const InvoicesPage = () => (
  <Page title="Invoices" description="What your sessions cost, one invoice a month, in UTC">
    <QueryView
      query={useInvoices()}
      isEmpty={({ invoices }) => invoices.length === 0}
      empty={<Empty title="No invoices yet">The first comes after a month with sessions.</Empty>}
    >
      {({ invoices }) => (
        <>
          <Totals invoices={invoices} />
          <InvoiceTable invoices={invoices} />
        </>
      )}
    </QueryView>
    <Section title="How you pay">
      <PaymentSetup />
    </Section>
    <Section title="Prices">
      <Prices />
    </Section>
    <Section title="Company data">
      <Text maw={640}>
        The payment provider is told your company’s name and e-mail when your account there is made; change
        them on its page afterwards.
      </Text>
      <ClientProfileForm />
    </Section>
  </Page>
)

/** What all of them come to. Withdrawn ones count for nothing. */
function Totals({ invoices }: { invoices: readonly Invoice[] }) {
  const sum = (...statuses: Invoice['status'][]) =>
    invoices
      .filter(({ status }) => statuses.includes(status))
      .reduce((cents, { total_cents }) => cents + total_cents, 0)
  return (
    <DescriptionList cols={{ base: 1, xs: 3 }}>
      <DescriptionItem label="In all" size="lg">
        {money(sum('DRAFT', 'OPEN', 'FAILED', 'PAID'))}
      </DescriptionItem>
      <DescriptionItem label="Paid" size="lg">
        {money(sum('PAID'))}
      </DescriptionItem>
      <DescriptionItem label="To be paid" size="lg">
        {money(sum('OPEN', 'FAILED'))}
      </DescriptionItem>
    </DescriptionList>
  )
}

const InvoiceTable = ({ invoices }: { invoices: readonly Invoice[] }) => (
  <DataTable
    label="Invoices"
    minWidth={620}
    columns={['Month', 'Status', 'Sessions', 'Time', 'Amount', 'At the provider']}
  >
    {invoices.map((invoice) => (
      <Row key={invoice.id} invoice={invoice} />
    ))}
  </DataTable>
)

const Row = ({ invoice }: { invoice: Invoice }) => (
  <Table.Tr>
    <Table.Td>
      <LinkAnchor to="/invoices/$invoiceId" params={{ invoiceId: invoice.id }} fw={600}>
        {monthName(invoice.month)}
      </LinkAnchor>
    </Table.Td>
    <Table.Td>
      <InvoiceStatusBadge status={invoice.status} />
    </Table.Td>
    <Table.Td>{invoice.session_count}</Table.Td>
    <Table.Td>{duration(invoice.minutes)}</Table.Td>
    <Table.Td>{money(invoice.total_cents, invoice.currency)}</Table.Td>
    <Table.Td>
      <HostedLink invoice={invoice} />
    </Table.Td>
  </Table.Tr>
)
