import { setTimeout as delay } from 'node:timers/promises'
import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { Failure } from '../failure.ts'
import { deliveryOutcome, showDelivery } from './view.ts'
import { webhookId } from './webhook-lookup.ts'

const POLL_INTERVAL_MS = 250

/** Sends a test event and waits for what comes of it. @throws Failure when it did not arrive */
export async function run(cli: Context, idOrName: string, { wait }: { wait: number }): Promise<void> {
  const id = await webhookId(cli, idOrName)
  const untilMs = performance.now() + wait * 1_000
  let delivery = await answerOf(cli.rest.POST('/api/webhooks/{id}/test', { params: { path: { id } } }))
  while (delivery.status === 'PENDING' && performance.now() < untilMs) {
    await delay(POLL_INTERVAL_MS, undefined, { signal: cli.signal })
    const params = { path: { id, delivery_id: delivery.id } }
    const { event: _, ...settled } = await answerOf(
      cli.rest.GET('/api/webhooks/{id}/deliveries/{delivery_id}', { params }),
    )
    delivery = settled
  }
  cli.out.result(delivery, () => showDelivery(cli.out, delivery))
  if (delivery.status === 'FAILED') {
    throw new Failure(
      'refused',
      `The receiver has not taken the test: ${deliveryOutcome(delivery) ?? 'no answer'}.`,
    )
  }
  if (delivery.status === 'PENDING') {
    const nextCommand = `wheelhouse webhooks delivery ${id} ${delivery.id}`
    throw new Failure(
      'unreachable',
      `Nothing came of the test within ${wait} s. Look later with: ${nextCommand}`,
    )
  }
}
