import { answerOf, type Schemas } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { Failure } from '../failure.ts'
import { findUnique, isFullId } from '../ids.ts'

/** As many deliveries as one answer holds. */
export const DELIVERY_PAGE = 100

/** The id of one of the caller's webhooks, given by its id, the beginning of that, or its URL. */
export async function webhookId(cli: Context, idOrName: string): Promise<string> {
  if (isFullId(idOrName)) return idOrName.toLowerCase()
  const { webhooks } = await answerOf(cli.rest.GET('/api/webhooks'))
  return findUnique(
    webhooks.map(({ id, url: name }) => ({ id, name })),
    idOrName,
    'webhook',
    'webhooks list',
  ).id
}

/** One of the caller's webhooks. */
export async function webhookOf(cli: Context, idOrName: string): Promise<Schemas['Webhook']> {
  const path = { id: await webhookId(cli, idOrName) }
  return await answerOf(cli.rest.GET('/api/webhooks/{id}', { params: { path } }))
}

/** The id of one of its newest deliveries, given by its id or the beginning of that. */
export async function deliveryId(cli: Context, webhook: string, idOrName: string): Promise<string> {
  if (isFullId(idOrName)) return idOrName.toLowerCase()
  const params = { path: { id: webhook }, query: { limit: DELIVERY_PAGE } }
  const { deliveries } = await answerOf(cli.rest.GET('/api/webhooks/{id}/deliveries', { params }))
  const found = findUnique(deliveries, idOrName, 'delivery', `webhooks deliveries ${webhook}`)
  if (deliveries.length < DELIVERY_PAGE) return found.id
  throw new Failure(
    'usage',
    `There are more than ${DELIVERY_PAGE} deliveries: give the whole id, such as ${found.id}`,
  )
}
