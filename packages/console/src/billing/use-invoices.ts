import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'

export type Invoice = Schemas['Invoice']
export type InvoiceLine = Schemas['InvoiceLine']

const PAGE_SIZE = 100

/** Queries all invoices, newest first. */
export function useInvoices() {
  const { rest } = usePlatform()
  return useQuery({
    queryKey: [...keys.invoices, 'list'],
    queryFn: () => answerOf(rest.GET('/api/client/invoices')),
  })
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
