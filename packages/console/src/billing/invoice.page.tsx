import { Button, Group, Text } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import type { Schemas } from '@wheelhouse/sdk'
import { t } from '../texts/texts.ts'
import { MoreButton } from '../ui/data-table.tsx'
import { dateTime } from '../ui/format.ts'
import { LinkButton } from '../ui/links.tsx'
import { Page } from '../ui/page.tsx'
import { ResourcePage } from '../ui/section.tsx'
import { HostedLink } from './hosted-link.tsx'
import { InvoiceLines } from './invoice-lines.tsx'
import { InvoiceStatusBadge, meaningOf, monthName } from './invoice-status.tsx'
import { useInvoice } from './use-invoices.ts'
import './print.css'

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
              <InvoiceStatusBadge status={invoice.status} />
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
