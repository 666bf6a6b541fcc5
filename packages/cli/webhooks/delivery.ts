import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { showDelivery } from './view.ts'
import { deliveryId, webhookId } from './webhook-lookup.ts'

/** Prints one delivery with its event. */
export async function run(cli: Context, webhook: string, idOrPrefix: string): Promise<void> {
  const id = await webhookId(cli, webhook)
  const params = { path: { id, delivery_id: await deliveryId(cli, id, idOrPrefix) } }
  const delivery = await answerOf(cli.rest.GET('/api/webhooks/{id}/deliveries/{delivery_id}', { params }))
  cli.out.result(delivery, () => {
    showDelivery(cli.out, delivery)
    cli.out.record([['Data', JSON.stringify(delivery.event.data)]])
  })
}
