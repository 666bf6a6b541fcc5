import { answerOf, type Schemas } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { formatTime, statusPiece } from '../views.ts'
import { deliveryOutcome } from './view.ts'
import { DELIVERY_PAGE, webhookId } from './webhook-lookup.ts'

type Delivery = Schemas['WebhookDelivery']

interface Options {
  readonly status?: Delivery['status']
  readonly limit: number
}

/** Prints the deliveries of a webhook. */
export async function run(cli: Context, idOrName: string, { status, limit }: Options): Promise<void> {
  const path = { id: await webhookId(cli, idOrName) }
  const found: Delivery[] = []
  while (found.length < limit) {
    const before = found.at(-1)?.id
    const query = {
      ...(status && { status }),
      ...(before !== undefined && { before }),
      limit: Math.min(DELIVERY_PAGE, limit - found.length),
    }
    const { deliveries } = await answerOf(
      cli.rest.GET('/api/webhooks/{id}/deliveries', { params: { path, query } }),
    )
    found.push(...deliveries)
    if (deliveries.length < query.limit) break
  }
  cli.out.list(
    found,
    [
      { title: 'ID', value: ({ id }) => id, noTruncate: true },
      { title: 'WHEN', value: ({ created_at }) => formatTime(created_at) },
      { title: 'EVENT', value: ({ type }) => type },
      { title: 'NUMBER', value: ({ seq }) => seq, right: true },
      { title: 'STATUS', value: (row) => statusPiece(row.status), noTruncate: true },
      { title: 'ATTEMPTS', value: ({ attempts }) => attempts, right: true },
      { title: 'OUTCOME', value: deliveryOutcome },
    ],
    'No matching deliveries.',
  )
}
