import { Card, Group, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { ClientProfileForm } from '../profiles/client-profile.form.tsx'
import { duration, money } from '../ui/format.ts'
import { LinkAnchor } from '../ui/links.tsx'
import { Page } from '../ui/page.tsx'
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

const Section = ({ title, children }: { title: string; children: ReactNode }) => (
  <Card withBorder component="section" aria-label={title}>
    <Stack>
      <Title order={2}>{title}</Title>
      {children}
    </Stack>
  </Card>
)

/** What all of them come to. Withdrawn ones count for nothing. */
function Totals({ invoices }: { invoices: readonly Invoice[] }) {
  const sum = (...statuses: Invoice['status'][]) =>
    invoices
      .filter(({ status }) => statuses.includes(status))
      .reduce((cents, { total_cents }) => cents + total_cents, 0)
  return (
    <SimpleGrid component="dl" cols={{ base: 1, xs: 3 }} m={0}>
      <Total label="In all" cents={sum('DRAFT', 'OPEN', 'FAILED', 'PAID')} />
      <Total label="Paid" cents={sum('PAID')} />
      <Total label="To be paid" cents={sum('OPEN', 'FAILED')} />
    </SimpleGrid>
  )
}

const Total = ({ label, cents }: { label: string; cents: number }) => (
  <Group gap={0} display="block">
    <Text component="dt" size="sm" c="dimmed">
      {label}
    </Text>
    <Text component="dd" m={0} fw={600} size="lg">
      {money(cents)}
    </Text>
  </Group>
)

const InvoiceTable = ({ invoices }: { invoices: readonly Invoice[] }) => (
  <Table.ScrollContainer minWidth={620} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
    <Table aria-label="Invoices">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Month</Table.Th>
          <Table.Th>Status</Table.Th>
          <Table.Th>Sessions</Table.Th>
          <Table.Th>Time</Table.Th>
          <Table.Th>Amount</Table.Th>
          <Table.Th>
            <span>At the provider</span>
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {invoices.map((invoice) => (
          <Row key={invoice.id} invoice={invoice} />
        ))}
      </Table.Tbody>
    </Table>
  </Table.ScrollContainer>
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
