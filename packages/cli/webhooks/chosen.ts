import { answerOf, type Schemas } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { Failure } from '../failure.ts'
import { isWhole, theOne } from '../ids.ts'

/** As many deliveries as one answer holds. */
export const DELIVERY_PAGE = 100

/** The id of one of the caller's webhooks, given by its id, the beginning of that, or its URL. */
export async function webhookId(cli: Context, given: string): Promise<string> {
  if (isWhole(given)) return given.toLowerCase()
  const { webhooks } = await answerOf(cli.rest.GET('/api/webhooks'))
  return theOne(
    webhooks.map(({ id, url: name }) => ({ id, name })),
    given,
    'webhook',
    'webhooks list',
  ).id
}

/** One of the caller's webhooks. */
export async function webhookOf(cli: Context, given: string): Promise<Schemas['Webhook']> {
  const path = { id: await webhookId(cli, given) }
  return await answerOf(cli.rest.GET('/api/webhooks/{id}', { params: { path } }))
}

/** The id of one of its newest deliveries, given by its id or the beginning of that. */
export async function deliveryId(cli: Context, webhook: string, given: string): Promise<string> {
  if (isWhole(given)) return given.toLowerCase()
  const params = { path: { id: webhook }, query: { limit: DELIVERY_PAGE } }
  const { deliveries } = await answerOf(cli.rest.GET('/api/webhooks/{id}/deliveries', { params }))
  const found = theOne(deliveries, given, 'delivery', `webhooks deliveries ${webhook}`)
  if (deliveries.length < DELIVERY_PAGE) return found.id
  throw new Failure(
    'usage',
    `There are more than ${DELIVERY_PAGE} deliveries: give the whole id, such as ${found.id}`,
  )
}
