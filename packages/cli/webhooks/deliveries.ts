import { answerOf, type Schemas } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { statusPiece, when } from '../views.ts'
import { DELIVERY_PAGE, webhookId } from './chosen.ts'
import { cameOf } from './view.ts'

type Delivery = Schemas['WebhookDelivery']

interface Options {
  readonly status?: Delivery['status']
  readonly limit: number
}

/** What was sent to a webhook, page by page. */
export async function run(cli: Context, given: string, { status, limit }: Options): Promise<void> {
  const path = { id: await webhookId(cli, given) }
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
      { title: 'ID', value: ({ id }) => id, whole: true },
      { title: 'WHEN', value: ({ created_at }) => when(created_at) },
      { title: 'EVENT', value: ({ type }) => type },
      { title: 'NUMBER', value: ({ seq }) => seq, right: true },
      { title: 'STATUS', value: (row) => statusPiece(row.status), whole: true },
      { title: 'ATTEMPTS', value: ({ attempts }) => attempts, right: true },
      { title: 'OUTCOME', value: cameOf },
    ],
    'No such deliveries.',
  )
}
