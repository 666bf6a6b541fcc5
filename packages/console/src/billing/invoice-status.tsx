import { Badge } from '@mantine/core'
import { invoiceStatusTexts } from '../texts/code-texts.ts'
import { language, t } from '../texts/texts.ts'
import { dateTime } from '../ui/format.ts'
import type { Invoice } from './use-invoices.ts'

const shown: Record<Invoice['status'], { color: string; meaning: string }> = {
  DRAFT: { color: 'gray.7', meaning: t('billing.status.draft') },
  OPEN: { color: 'blue.9', meaning: t('billing.status.open') },
  PAID: { color: 'teal.9', meaning: t('billing.status.paid') },
  FAILED: { color: 'red.9', meaning: t('billing.status.failed') },
  VOID: { color: 'gray.7', meaning: t('billing.status.void') },
}

export const InvoiceStatusBadge = ({ status }: { status: Invoice['status'] }) => (
  <Badge color={shown[status].color} title={shown[status].meaning}>
    {invoiceStatusTexts[status]}
  </Badge>
)

/** Returns the meaning of the status for the owner. */
export const meaningOf = ({ status, paid_at }: Invoice): string =>
  status === 'PAID' && paid_at
    ? t('billing.status.paidOn', { date: dateTime(paid_at) })
    : shown[status].meaning

/** Returns `2026-10` as "October 2026". Invoice months are in UTC. */
export const monthName = (month: string): string =>
  new Intl.DateTimeFormat(language, { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(
    new Date(`${month}-01T00:00:00Z`),
  )
