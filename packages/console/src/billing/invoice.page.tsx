import { Button, Group, Text } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import type { Schemas } from '@wheelhouse/sdk'
import { dateTime } from '../ui/format.ts'
import { LinkButton } from '../ui/links.tsx'
import { MoreButton } from '../ui/more-button.tsx'
import { Page } from '../ui/page.tsx'
import { ResourcePage } from '../ui/resource-page.tsx'
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
    <ResourcePage query={query} kind="Invoice" back={<LinkButton to="/invoices">All invoices</LinkButton>}>
      {({ pages }) => {
        const invoice = pages.at(-1)
        if (!invoice) return null
        const lines = pages.flatMap((page) => page.lines)
        return (
          <Page
            title={`Invoice for ${monthName(invoice.month)}`}
            description={invoice.issued_at ? `Issued on ${dateTime(invoice.issued_at)}` : 'Not issued yet'}
            actions={<Actions complete={!query.hasNextPage} />}
          >
            <Group>
              <InvoiceStatusBadge status={invoice.status} />
              <Text>{meaningOf(invoice)}</Text>
              <HostedLink invoice={invoice} />
            </Group>
            {invoice.billing_name && <Text>For {billedTo(invoice)}</Text>}
            <InvoiceLines invoice={invoice} lines={lines} />
            <MoreButton query={query}>
              More lines ({lines.length} of {invoice.session_count})
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
      All invoices
    </LinkButton>
    {/* A partial invoice on paper looks complete. */}
    <Button
      onClick={() => window.print()}
      disabled={!complete}
      title={complete ? undefined : 'Load all lines first'}
    >
      Print
    </Button>
  </Group>
)
