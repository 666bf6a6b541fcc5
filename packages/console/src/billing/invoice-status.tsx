import { Badge } from '@mantine/core'
import { invoiceStatusTexts } from '@wheelhouse/protocol'
import { dateTime } from '../ui/format.ts'
import type { Invoice } from './use-invoices.ts'

const shown: Record<Invoice['status'], { color: string; meaning: string }> = {
  DRAFT: { color: 'gray.7', meaning: 'It is not issued yet.' },
  OPEN: { color: 'blue.9', meaning: 'It is issued, and not paid yet.' },
  PAID: { color: 'teal.9', meaning: 'It is paid; nothing is left to do.' },
  FAILED: {
    color: 'red.9',
    meaning: 'Collecting it did not work. Pay it on the provider’s page, or change how you pay.',
  },
  VOID: { color: 'gray.7', meaning: 'It was withdrawn; you owe nothing for it.' },
}

export const InvoiceStatusBadge = ({ status }: { status: Invoice['status'] }) => (
  <Badge color={shown[status].color} title={shown[status].meaning}>
    {invoiceStatusTexts[status]}
  </Badge>
)

/** What its status means for the owner. */
export const meaningOf = ({ status, paid_at }: Invoice): string =>
  status === 'PAID' && paid_at ? `Paid on ${dateTime(paid_at)}.` : shown[status].meaning

/** `2026-10` as "October 2026": months of invoices are months of UTC. */
export const monthName = (month: string): string =>
  new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(
    new Date(`${month}-01T00:00:00Z`),
  )
