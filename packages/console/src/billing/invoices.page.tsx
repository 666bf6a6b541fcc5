import { Alert, Anchor, Button, Group, Stack, Table, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { ApiError, answerOf, type Schemas } from '@wheelhouse/sdk'
import { DescriptionList, MoreButton, RowTable, type TableColumn } from '../base/data-table.tsx'
import { dateTime, duration, money, monthOf, timeOfDay } from '../base/format.ts'
import { LinkAnchor, LinkButton, SessionLink, webAddress } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { ResourcePage, Section } from '../base/section.tsx'
import { Empty, Note, Problem, QueryView } from '../base/states.tsx'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { useRead, useWrite } from '../platform/rest.ts'
import { ClientProfileForm } from '../settings/profile-forms.tsx'
import type { ShapeName } from '../status/shape-name.ts'
import { StateLabel } from '../status/state-label.tsx'
import { invoiceStatusTexts } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
import './print.css'

export const InvoicesPage = () => (
  <Page title={t('billing.invoices.title')} description={t('billing.invoices.description')}>
    <QueryView
      query={useRead([...keys.invoices, 'list'], (rest) => rest.GET('/api/client/invoices'))}
      isEmpty={({ invoices }) => invoices.length === 0}
      empty={<Empty title={t('billing.invoices.emptyTitle')}>{t('billing.invoices.emptyText')}</Empty>}
    >
      {({ invoices }) => (
        <>
          <Totals invoices={invoices} />
          <RowTable
            label={t('billing.invoices.title')}
            minWidth={620}
            columns={invoiceColumns}
            rows={invoices}
          />
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
    <DescriptionList
      cols={{ base: 1, xs: 3 }}
      size="lg"
      items={{
        [t('billing.invoices.total')]: money(sum('DRAFT', 'OPEN', 'FAILED', 'PAID')),
        [t('billing.invoices.paid')]: money(sum('PAID')),
        [t('billing.invoices.unpaid')]: money(sum('OPEN', 'FAILED')),
      }}
    />
  )
}

const invoiceColumns: readonly TableColumn<Invoice>[] = [
  [
    t('billing.invoices.month'),
    ({ id, month }) => (
      <LinkAnchor to="/invoices/$invoiceId" params={{ invoiceId: id }} fw={600}>
        {monthName(month)}
      </LinkAnchor>
    ),
  ],
  [t('billing.invoices.status'), ({ status }) => <InvoiceStatusLabel status={status} />],
  [t('billing.invoices.sessions'), ({ session_count }) => session_count],
  [t('billing.invoices.time'), ({ minutes }) => duration(minutes)],
  [t('billing.invoices.amount'), ({ total_cents, currency }) => money(total_cents, currency)],
  [t('billing.invoices.provider'), (invoice) => <HostedLink invoice={invoice} />],
]

/** Shows whether a payment method is saved, and links to the page of the payment provider. */
function PaymentSetup() {
  const profile = useRead(keys.clientProfile, (rest) => rest.GET('/api/client/profile'))
  const portal = useWrite((rest) => rest.POST('/api/payments/portal'), {
    // Opens in this tab, because browsers block a window that opens after a request.
    onSuccess: ({ url }) => {
      const address = webAddress(url)
      if (address) window.location.assign(address)
    },
    gcTime: 0,
  })
  if (isNotSetUp(portal.error))
    return (
      <Alert variant="default" title={t('billing.payment.offTitle')} role="status">
        <Text size="sm">{t('billing.payment.offText')}</Text>
      </Alert>
    )
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
          <RowTable
            label={t('billing.prices.label')}
            rows={plans}
            columns={[
              [
                t('billing.prices.plan'),
                ({ name, description }) => (
                  <>
                    <Text fw={600}>{name}</Text>
                    <Note>{description}</Note>
                  </>
                ),
              ],
              [t('billing.prices.perMinute'), (plan) => money(plan.client_rate_cents_per_minute, currency)],
            ]}
          />
        )}
      </QueryView>
    </Stack>
  )
}

type Invoice = Schemas['Invoice']
type InvoiceLine = Schemas['InvoiceLine']

const PAGE_SIZE = 100

/** Queries one invoice and its lines page by page, oldest first. */
function useInvoice(id: string) {
  const { rest } = usePlatform()
  return useInfiniteQuery({
    queryKey: [...keys.invoices, id],
    queryFn: ({ pageParam: offset }) =>
      answerOf(
        rest.GET('/api/client/invoices/{id}', {
          params: { path: { id }, query: { limit: PAGE_SIZE, offset } },
        }),
      ),
    initialPageParam: 0,
    getNextPageParam: ({ session_count }, pages) => {
      const loaded = pages.reduce((sum, { lines }) => sum + lines.length, 0)
      const last = pages.at(-1)?.lines.length ?? 0
      return last > 0 && loaded < session_count ? loaded : undefined
    },
  })
}

const shown: Record<Invoice['status'], { shape: ShapeName; meaning: string }> = {
  DRAFT: { shape: 'off', meaning: t('billing.status.draft') },
  OPEN: { shape: 'request', meaning: t('billing.status.open') },
  PAID: { shape: 'live', meaning: t('billing.status.paid') },
  FAILED: { shape: 'blind', meaning: t('billing.status.failed') },
  VOID: { shape: 'off', meaning: t('billing.status.void') },
}

const InvoiceStatusLabel = ({ status }: { status: Invoice['status'] }) => (
  <StateLabel shape={shown[status].shape} title={shown[status].meaning}>
    {invoiceStatusTexts[status]}
  </StateLabel>
)

const meaningOf = ({ status, paid_at }: Invoice): string =>
  status === 'PAID' && paid_at
    ? t('billing.status.paidOn', { date: dateTime(paid_at) })
    : shown[status].meaning

/** Returns `2026-10` as "October 2026". Invoice months are in UTC. */
const monthName = (month: string): string => monthOf(`${month}-01T00:00:00Z`)

/** Links to the invoice page of the payment provider, where the owner can pay. */
function HostedLink({ invoice }: { invoice: Invoice }) {
  const address = invoice.hosted_url === null ? undefined : webAddress(invoice.hosted_url)
  if (!address) return null
  const isUnpaid = invoice.status === 'OPEN' || invoice.status === 'FAILED'
  const month = monthName(invoice.month)
  return (
    <Anchor
      href={address}
      target="_blank"
      rel="noopener noreferrer"
      data-no-print
      aria-label={t(isUnpaid ? 'billing.hostedLink.payLabel' : 'billing.hostedLink.viewLabel', { month })}
    >
      {t(isUnpaid ? 'billing.hostedLink.pay' : 'billing.hostedLink.view')}
    </Anchor>
  )
}

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

const lineColumns = (currency: string): readonly TableColumn<InvoiceLine>[] => [
  [
    t('billing.lines.session'),
    ({ session_id, started_at }) => <SessionLink id={session_id} inherit name={dateTime(started_at)} />,
  ],
  [t('billing.lines.robot'), ({ robot_name }) => robot_name],
  [
    t('billing.lines.operator'),
    ({ operator_name, driven }) =>
      driven?.map((part) => (
        <Note key={part.from}>
          {t('billing.lines.driven', {
            name: part.operator_name,
            from: timeOfDay(new Date(part.from)),
            to: timeOfDay(new Date(part.to)),
            amount: money(part.amount_cents, currency),
          })}
        </Note>
      )) ?? operator_name,
  ],
  [t('billing.lines.minutesColumn'), ({ minutes }) => minutes],
  [t('billing.lines.paused'), ({ paused_seconds }) => seconds(paused_seconds)],
  [t('billing.lines.offline'), ({ outage_seconds }) => seconds(outage_seconds)],
  [t('billing.lines.perMinute'), (line) => money(line.rate_cents_per_minute, currency)],
  [t('billing.lines.amount'), ({ amount_cents }) => money(amount_cents, currency)],
]

const InvoiceLines = ({ invoice, lines }: { invoice: Invoice; lines: readonly InvoiceLine[] }) => (
  <>
    <RowTable
      label={t('billing.lines.label')}
      minWidth={760}
      columns={lineColumns(invoice.currency)}
      rows={lines}
      keyOf={({ session_id }) => session_id}
      foot={<Sums invoice={invoice} lines={lines} />}
    />
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
