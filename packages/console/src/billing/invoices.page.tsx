import { Table, Text } from '@mantine/core'
import { ClientProfileForm } from '../profiles/client-profile-form.tsx'
import { t } from '../texts/texts.ts'
import { DataTable, DescriptionItem, DescriptionList } from '../ui/data-table.tsx'
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

/** Lists invoices and shows payment method, prices and company data. */
export const InvoicesPage = () => (
  <Page title={t('billing.invoices.title')} description={t('billing.invoices.description')}>
    <QueryView
      query={useInvoices()}
      isEmpty={({ invoices }) => invoices.length === 0}
      empty={<Empty title={t('billing.invoices.emptyTitle')}>{t('billing.invoices.emptyText')}</Empty>}
    >
      {({ invoices }) => (
        <>
          <Totals invoices={invoices} />
          <InvoiceTable invoices={invoices} />
        </>
      )}
    </QueryView>
    <Section title={t('billing.invoices.paymentMethod')}>
      <PaymentSetup />
    </Section>
    <Section title={t('billing.invoices.prices')}>
      <Prices />
    </Section>
    <Section title={t('billing.invoices.companyData')}>
      <Text maw={640}>{t('billing.invoices.companyNote')}</Text>
      <ClientProfileForm />
    </Section>
  </Page>
)

/** Shows totals over all invoices except voided ones. */
function Totals({ invoices }: { invoices: readonly Invoice[] }) {
  const sum = (...statuses: Invoice['status'][]) =>
    invoices
      .filter(({ status }) => statuses.includes(status))
      .reduce((cents, { total_cents }) => cents + total_cents, 0)
  return (
    <DescriptionList cols={{ base: 1, xs: 3 }}>
      <DescriptionItem label={t('billing.invoices.total')} size="lg">
        {money(sum('DRAFT', 'OPEN', 'FAILED', 'PAID'))}
      </DescriptionItem>
      <DescriptionItem label={t('billing.invoices.paid')} size="lg">
        {money(sum('PAID'))}
      </DescriptionItem>
      <DescriptionItem label={t('billing.invoices.unpaid')} size="lg">
        {money(sum('OPEN', 'FAILED'))}
      </DescriptionItem>
    </DescriptionList>
  )
}

const InvoiceTable = ({ invoices }: { invoices: readonly Invoice[] }) => (
  <DataTable
    label={t('billing.invoices.title')}
    minWidth={620}
    columns={[
      t('billing.invoices.month'),
      t('billing.invoices.status'),
      t('billing.invoices.sessions'),
      t('billing.invoices.time'),
      t('billing.invoices.amount'),
      t('billing.invoices.provider'),
    ]}
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
