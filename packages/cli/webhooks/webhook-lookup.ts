import { answerOf, type Schemas } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { Failure } from '../failure.ts'
import { findUnique, isFullId } from '../ids.ts'

/** Size of one page of deliveries. */
export const DELIVERY_PAGE = 100

/** Returns the id of one of the caller's webhooks, from its id, a prefix of the id, or its URL. */
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

/** Returns one of the caller's webhooks. */
export async function webhookOf(cli: Context, idOrName: string): Promise<Schemas['Webhook']> {
  const path = { id: await webhookId(cli, idOrName) }
  return await answerOf(cli.rest.GET('/api/webhooks/{id}', { params: { path } }))
}

/** Returns the id of one of a webhook's newest deliveries, from its id or a prefix of the id. */
export async function deliveryId(cli: Context, webhook: string, idOrName: string): Promise<string> {
  if (isFullId(idOrName)) return idOrName.toLowerCase()
  const params = { path: { id: webhook }, query: { limit: DELIVERY_PAGE } }
  const { deliveries } = await answerOf(cli.rest.GET('/api/webhooks/{id}/deliveries', { params }))
  const found = findUnique(deliveries, idOrName, 'delivery', `webhooks deliveries ${webhook}`)
  if (deliveries.length < DELIVERY_PAGE) return found.id
  throw new Failure(
    'usage',
    `The webhook has more than ${DELIVERY_PAGE} deliveries. Type the full id, such as ${found.id}`,
  )
}
