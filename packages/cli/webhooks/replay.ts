import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { Failure } from '../failure.ts'
import { deliveryId, webhookId } from './webhook-lookup.ts'

/** Schedules deliveries that a receiver has missed. The log of deliveries shows the outcome. */
export async function run(
  cli: Context,
  webhook: string,
  delivery: string | undefined,
  { since }: { since?: string },
): Promise<void> {
  if ((delivery === undefined) === (since === undefined)) {
    throw new Failure(
      'usage',
      'Name a delivery, or set a time with --since. See: wheelhouse webhooks replay --help',
    )
  }
  const id = await webhookId(cli, webhook)
  const replayed =
    delivery === undefined
      ? await replayMissed(cli, id, since ?? '')
      : await replayDelivery(cli, id, delivery)
  cli.out.result({ replayed }, () => {
    cli.out.line(replayed === 1 ? 'One event is scheduled again.' : `${replayed} events are scheduled again.`)
    if (replayed > 0) cli.out.note(`See the outcome with: wheelhouse webhooks deliveries ${id}`)
  })
}

async function replayDelivery(cli: Context, id: string, idOrPrefix: string): Promise<number> {
  const path = { id, delivery_id: await deliveryId(cli, id, idOrPrefix) }
  await answerOf(cli.rest.POST('/api/webhooks/{id}/deliveries/{delivery_id}/replay', { params: { path } }))
  return 1
}

/** Replays failed deliveries in batches. The platform skips pending deliveries. */
async function replayMissed(cli: Context, id: string, since: string): Promise<number> {
  for (let total = 0; ; ) {
    const request = cli.rest.POST('/api/webhooks/{id}/replay', { params: { path: { id } }, body: { since } })
    const { replayed, more } = await answerOf(request)
    total += replayed
    if (!more) return total
  }
}
