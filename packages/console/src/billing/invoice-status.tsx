import { Badge } from '@mantine/core'
import { invoiceStatusTexts } from '@wheelhouse/protocol'
import { dateTime } from '../ui/format.ts'
import type { Invoice } from './use-invoices.ts'

const shown: Record<Invoice['status'], { color: string; meaning: string }> = {
  DRAFT: { color: 'gray.7', meaning: 'Not issued yet.' },
  OPEN: { color: 'blue.9', meaning: 'Issued and not paid yet.' },
  PAID: { color: 'teal.9', meaning: 'Paid.' },
  FAILED: {
    color: 'red.9',
    meaning: 'The charge failed. Pay on the payment provider’s page or change your payment method.',
  },
  VOID: { color: 'gray.7', meaning: 'Voided. You do not need to pay.' },
}

export const InvoiceStatusBadge = ({ status }: { status: Invoice['status'] }) => (
  <Badge color={shown[status].color} title={shown[status].meaning}>
    {invoiceStatusTexts[status]}
  </Badge>
)

/** Returns the meaning of the status for the owner. */
export const meaningOf = ({ status, paid_at }: Invoice): string =>
  status === 'PAID' && paid_at ? `Paid on ${dateTime(paid_at)}.` : shown[status].meaning

/** Returns `2026-10` as "October 2026". Invoice months are in UTC. */
export const monthName = (month: string): string =>
  new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(
    new Date(`${month}-01T00:00:00Z`),
  )
