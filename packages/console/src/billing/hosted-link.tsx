import { Anchor } from '@mantine/core'
import { webAddress } from '../ui/web-address.ts'
import { monthName } from './invoice-status.tsx'
import type { Invoice } from './use-invoices.ts'

/** Links to the invoice page of the payment provider, where the owner can pay. */
export function HostedLink({ invoice }: { invoice: Invoice }) {
  const address = invoice.hosted_url === null ? undefined : webAddress(invoice.hosted_url)
  if (!address) return null
  const label = invoice.status === 'OPEN' || invoice.status === 'FAILED' ? 'View and pay' : 'View'
  return (
    <Anchor
      href={address}
      target="_blank"
      rel="noopener noreferrer"
      data-no-print
      aria-label={`${label}: ${monthName(invoice.month)}, in a new tab`}
    >
      {label}
    </Anchor>
  )
}
