import { Alert, Button, Group, Stack, Table, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { ApiError, answerOf } from '@wheelhouse/sdk'
import { DataTable, DescriptionItem, DescriptionList } from '../base/data-table.tsx'
import { duration, money } from '../base/format.ts'
import { LinkAnchor, webAddress } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { Section } from '../base/section.tsx'
import { Empty, Note, Problem, QueryView } from '../base/states.tsx'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { useRead } from '../platform/rest.ts'
import { ClientProfileForm } from '../settings/client-profile-form.tsx'
import { t } from '../texts/texts.ts'
import { HostedLink, type Invoice, InvoiceStatusLabel, monthName, useInvoices } from './invoices.tsx'

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
      <InvoiceStatusLabel status={invoice.status} />
    </Table.Td>
    <Table.Td>{invoice.session_count}</Table.Td>
    <Table.Td>{duration(invoice.minutes)}</Table.Td>
    <Table.Td>{money(invoice.total_cents, invoice.currency)}</Table.Td>
    <Table.Td>
      <HostedLink invoice={invoice} />
    </Table.Td>
  </Table.Tr>
)

/** Queries the owner profile, with billing data. */
function useClientProfile() {
  return useRead(keys.clientProfile, (rest) => rest.GET('/api/client/profile'))
}

/** Shows whether a payment method is saved, and links to the page of the payment provider. */
function PaymentSetup() {
  const { rest } = usePlatform()
  const profile = useClientProfile()
  const portal = useMutation({
    mutationFn: () => answerOf(rest.POST('/api/payments/portal')),
    // Opens in this tab, because browsers block a window that opens after a request.
    onSuccess: ({ url }) => {
      const address = webAddress(url)
      if (address) window.location.assign(address)
    },
    gcTime: 0,
  })
  if (isNotSetUp(portal.error)) return <NotSetUp />
  return (
    <QueryView query={profile}>
      {({ billing_ready }) => (
        <Stack>
          <Text maw={640}>{t(billing_ready ? 'billing.payment.saved' : 'billing.payment.missing')}</Text>
          <Note maw={640}>{t('billing.payment.privacy')}</Note>
          <Problem error={portal.error} />
          <Group>
            <Button onClick={() => portal.mutate()} loading={portal.isPending || portal.isSuccess}>
              {t(billing_ready ? 'billing.payment.change' : 'billing.payment.add')}
            </Button>
          </Group>
        </Stack>
      )}
    </QueryView>
  )
}

/** Returns whether payments are not configured, as opposed to a temporary outage of the provider. */
const isNotSetUp = (error: unknown) => error instanceof ApiError && error.code === 'payments_not_configured'

const NotSetUp = () => (
  <Alert variant="default" title={t('billing.payment.offTitle')} role="status">
    <Text size="sm">{t('billing.payment.offText')}</Text>
  </Alert>
)

/** Shows the public price list. */
function Prices() {
  const query = useRead(keys.pricing, (rest) => rest.GET('/api/public/pricing'))
  return (
    <Stack>
      <Text maw={640}>{t('billing.prices.note')}</Text>
      <QueryView
        query={query}
        isEmpty={({ plans }) => plans.length === 0}
        empty={<Empty title={t('billing.prices.emptyTitle')} />}
      >
        {({ plans, currency }) => (
          <DataTable
            label={t('billing.prices.label')}
            columns={[t('billing.prices.plan'), t('billing.prices.perMinute')]}
          >
            {plans.map((plan) => (
              <Table.Tr key={plan.id}>
                <Table.Td>
                  <Text fw={600}>{plan.name}</Text>
                  <Note>{plan.description}</Note>
                </Table.Td>
                <Table.Td>{money(plan.client_rate_cents_per_minute, currency)}</Table.Td>
              </Table.Tr>
            ))}
          </DataTable>
        )}
      </QueryView>
    </Stack>
  )
}
