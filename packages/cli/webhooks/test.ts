import { setTimeout as delay } from 'node:timers/promises'
import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { Failure } from '../failure.ts'
import { deliveryOutcome, showDelivery } from './view.ts'
import { webhookId } from './webhook-lookup.ts'

const POLL_INTERVAL_MS = 250

/** Sends a test event and waits for the outcome. @throws Failure when the delivery fails or is still pending */
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
      `The receiver did not accept the test event: ${deliveryOutcome(delivery) ?? 'no response'}.`,
    )
  }
  if (delivery.status === 'PENDING') {
    const nextCommand = `wheelhouse webhooks delivery ${id} ${delivery.id}`
    throw new Failure(
      'unreachable',
      `The test has no outcome after ${wait} s. Check later with: ${nextCommand}`,
    )
  }
}
