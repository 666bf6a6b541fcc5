import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { useRead } from '../platform/rest.ts'

export type Webhook = Schemas['Webhook']
export type Delivery = Schemas['WebhookDelivery']
export type DeliveryStatus = Delivery['status']

const PAGE_SIZE = 25
/** No event announces the progress of a delivery, so the page polls, faster while one is in progress. */
const POLL_INTERVAL_MS = 15_000
const POLL_PENDING_MS = 1_500
const POLL_TEST_MS = 500
/** A delivery whose next attempt is later than this is not in progress. */
const SOON_MS = 30_000

export const webhookKey = (id: string) => [...keys.webhooks, id] as const

/** Queries the user's webhooks, newest first. */
export function useWebhooks() {
  return useRead(keys.webhooks, (rest) => rest.GET('/api/webhooks'), { refetchInterval: POLL_INTERVAL_MS })
}

export function useWebhook(id: string) {
  return useRead(webhookKey(id), (rest) => rest.GET('/api/webhooks/{id}', { params: { path: { id } } }), {
    refetchInterval: POLL_INTERVAL_MS,
  })
}

/** Queries the deliveries of a webhook page by page, newest first. */
export function useDeliveries(id: string, status: DeliveryStatus | undefined) {
  const { rest } = usePlatform()
  return useInfiniteQuery({
    queryKey: [...webhookKey(id), 'deliveries', status ?? 'all'],
    queryFn: async ({ pageParam: before }) => {
      const query = { limit: PAGE_SIZE, ...(before !== undefined && { before }), ...(status && { status }) }
      const path = { params: { path: { id }, query } }
      return (await answerOf(rest.GET('/api/webhooks/{id}/deliveries', path))).deliveries
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => (page.length < PAGE_SIZE ? undefined : page.at(-1)?.id),
    select: ({ pages }) => pages.flat(),
    refetchInterval: ({ state }) =>
      state.data?.pages.flat().some(isInProgress) ? POLL_PENDING_MS : POLL_INTERVAL_MS,
  })
}

const isInProgress = ({ next_attempt_at: at }: Delivery): boolean =>
  at !== null && Date.parse(at) < Date.now() + SOON_MS

/** Queries one delivery. Polls while an attempt is running or due soon. */
export function useDelivery(id: string, deliveryId: string | undefined) {
  return useRead(
    [...webhookKey(id), 'delivery', deliveryId],
    (rest) =>
      rest.GET('/api/webhooks/{id}/deliveries/{delivery_id}', {
        params: { path: { id, delivery_id: deliveryId ?? '' } },
      }),
    {
      enabled: deliveryId !== undefined,
      refetchInterval: ({ state: { data } }) => (data && isInProgress(data) ? POLL_TEST_MS : false),
    },
  )
}

/** Changes a webhook and refetches the webhook queries. */
export function useWebhookChange<V, T>(change: (values: V) => Promise<T>) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: change,
    onSettled: () => queries.invalidateQueries({ queryKey: keys.webhooks }),
  })
}
