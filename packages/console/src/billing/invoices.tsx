import { Anchor } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { dateTime, monthOf } from '../base/format.ts'
import { webAddress } from '../base/links.tsx'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { useRead } from '../platform/rest.ts'
import type { ShapeName } from '../status/shape-name.ts'
import { StateLabel } from '../status/state-label.tsx'
import { invoiceStatusTexts } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'

export type Invoice = Schemas['Invoice']
export type InvoiceLine = Schemas['InvoiceLine']

const PAGE_SIZE = 100

/** Queries all invoices, newest first. */
export function useInvoices() {
  return useRead([...keys.invoices, 'list'], (rest) => rest.GET('/api/client/invoices'))
}

/** Queries one invoice and its lines page by page, oldest first. */
export function useInvoice(id: string) {
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

export const InvoiceStatusLabel = ({ status }: { status: Invoice['status'] }) => (
  <StateLabel shape={shown[status].shape} title={shown[status].meaning}>
    {invoiceStatusTexts[status]}
  </StateLabel>
)

/** Returns the meaning of the status for the owner. */
export const meaningOf = ({ status, paid_at }: Invoice): string =>
  status === 'PAID' && paid_at
    ? t('billing.status.paidOn', { date: dateTime(paid_at) })
    : shown[status].meaning

/** Returns `2026-10` as "October 2026". Invoice months are in UTC. */
export const monthName = (month: string): string => monthOf(`${month}-01T00:00:00Z`)

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
