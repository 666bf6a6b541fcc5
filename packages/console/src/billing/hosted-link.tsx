import { Anchor } from '@mantine/core'
import { t } from '../texts/texts.ts'
import { webAddress } from '../ui/links.tsx'
import { monthName } from './invoice-status.tsx'
import type { Invoice } from './use-invoices.ts'

/** Links to the invoice page of the payment provider, where the owner can pay. */
export function HostedLink({ invoice }: { invoice: Invoice }) {
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
