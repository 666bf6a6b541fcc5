import { idOf } from '@wheelhouse/protocol'
import { z } from 'zod'
import { type Endpoint, endpoint, idParams } from '../../core/http/endpoint.ts'
import { scopeOf } from '../../core/permissions/authorization.ts'
import type { Deliveries } from './delivery.service.ts'
import {
  CreateWebhook,
  DeliveryQuery,
  DeliveryView,
  DeliveryWithEvent,
  ReplaySince,
  RotateSecret,
  UpdateWebhook,
  WebhookView,
  WebhookWithSecret,
} from './webhook.schema.ts'
import type { Webhooks } from './webhook.service.ts'
import { deliveredEvent, deliveryView, webhookView } from './webhook.view.ts'

const WEBHOOKS = '/api/webhooks'
const DELIVERIES = `${WEBHOOKS}/{id}/deliveries`

const deliveryParams = z.strictObject({ id: idOf('webhook'), delivery_id: idOf('delivery') })
const disabledConflict = { webhook_disabled: 'when the webhook is disabled' } as const

interface WebhookRouteDeps {
  readonly webhooks: Webhooks
  readonly deliveries: Deliveries
  readonly now: () => Date
}

/** Creates the endpoints of webhooks. */
export function webhookEndpoints(deps: WebhookRouteDeps): Endpoint[] {
  const { webhooks, now } = deps
  const view = (row: Parameters<typeof webhookView>[0]) => webhookView(row, now())
  return [
    endpoint({
      method: 'get',
      path: WEBHOOKS,
      list: true,
      summary: 'Lists your webhooks, newest first',
      access: { action: 'webhooks.manage' },
      response: [200, z.object({ webhooks: z.array(WebhookView) })],
      run: async ({ caller }) => ({ webhooks: (await webhooks.list(caller.organization.id)).map(view) }),
    }),
    endpoint({
      method: 'post',
      path: WEBHOOKS,
      summary: 'Registers a webhook. Only this response contains its secret',
      access: { action: 'webhooks.manage' },
      body: CreateWebhook,
      response: [201, WebhookWithSecret],
      errors: { 409: { webhook_limit_reached: 'when the account has the maximum number of webhooks' } },
      run: async ({ caller, body }) => {
        const { row, secret } = await webhooks.create(scopeOf(caller), body)
        return { ...view(row), secret }
      },
    }),
    endpoint({
      method: 'get',
      path: `${WEBHOOKS}/{id}`,
      summary: 'Returns one of your webhooks',
      access: { action: 'webhooks.manage' },
      params: idParams('webhook'),
      response: [200, WebhookView],
      run: async ({ caller, params }) => view(await webhooks.get(caller.organization.id, params.id)),
    }),
    endpoint({
      method: 'patch',
      path: `${WEBHOOKS}/{id}`,
      summary: 'Changes, enables or disables a webhook',
      access: { action: 'webhooks.manage' },
      params: idParams('webhook'),
      body: UpdateWebhook,
      response: [200, WebhookView],
      run: async ({ caller, params, body }) =>
        view(await webhooks.update(caller.organization.id, params.id, body)),
    }),
    endpoint({
      method: 'delete',
      path: `${WEBHOOKS}/{id}`,
      summary: 'Removes a webhook and the log of its deliveries',
      access: { action: 'webhooks.manage' },
      params: idParams('webhook'),
      response: [204],
      run: async ({ caller, params }) => webhooks.remove(scopeOf(caller), params.id),
    }),
    endpoint({
      method: 'post',
      path: `${WEBHOOKS}/{id}/rotate-secret`,
      summary: 'Replaces the secret of a webhook. Only this response contains the new secret',
      access: { action: 'webhooks.manage' },
      params: idParams('webhook'),
      body: RotateSecret,
      response: [200, WebhookWithSecret],
      run: async ({ caller, params, body }) => {
        const { row, secret } = await webhooks.rotate(scopeOf(caller), params.id, body.keep_old)
        return { ...view(row), secret }
      },
    }),
    ...deliveryEndpoints(deps),
  ]
}

/** Creates the endpoints of deliveries. */
function deliveryEndpoints({ webhooks, deliveries }: WebhookRouteDeps): Endpoint[] {
  return [
    endpoint({
      method: 'post',
      path: `${WEBHOOKS}/{id}/test`,
      summary: 'Sends a test event to a webhook',
      access: { action: 'webhooks.manage' },
      params: idParams('webhook'),
      response: [202, DeliveryView],
      errors: { 409: { ...disabledConflict, webhook_test_limit_reached: 'when too many tests are pending' } },
      run: async ({ caller, params }) =>
        deliveryView(await deliveries.test(caller.organization.id, params.id)),
    }),
    endpoint({
      method: 'post',
      path: `${WEBHOOKS}/{id}/replay`,
      summary: 'Replays events since a given time that were not delivered',
      access: { action: 'webhooks.manage' },
      params: idParams('webhook'),
      body: ReplaySince,
      response: [
        202,
        z.object({
          replayed: z
            .number()
            .int()
            .meta({ description: 'The number of replayed events.', examples: [12] }),
          more: z.boolean().meta({
            description: 'Whether more events can follow. If so, repeat the request.',
            examples: [false],
          }),
        }),
      ],
      errors: { 409: disabledConflict },
      run: ({ caller, params, body }) =>
        deliveries.replaySince(caller.organization.id, params.id, body.since),
    }),
    endpoint({
      method: 'get',
      path: DELIVERIES,
      list: true,
      summary: 'Lists the deliveries of a webhook, newest first',
      access: { action: 'webhooks.manage' },
      params: idParams('webhook'),
      query: DeliveryQuery,
      response: [200, z.object({ deliveries: z.array(DeliveryView) })],
      run: async ({ caller, params, query }) => {
        await webhooks.get(caller.organization.id, params.id)
        return {
          deliveries: (await deliveries.list(caller.organization.id, params.id, query)).map(deliveryView),
        }
      },
    }),
    endpoint({
      method: 'get',
      path: `${DELIVERIES}/{delivery_id}`,
      summary: 'Returns a delivery with its event',
      access: { action: 'webhooks.manage' },
      params: deliveryParams,
      response: [200, DeliveryWithEvent],
      run: async ({ caller, params }) => {
        const row = await deliveries.get(caller.organization.id, params.id, params.delivery_id)
        return { ...deliveryView(row), event: deliveredEvent(row) }
      },
    }),
    endpoint({
      method: 'post',
      path: `${DELIVERIES}/{delivery_id}/replay`,
      summary: 'Sends the event of a delivery again',
      access: { action: 'webhooks.manage' },
      params: deliveryParams,
      response: [202, DeliveryView],
      errors: { 409: { ...disabledConflict, delivery_pending: 'when the delivery is still pending' } },
      run: async ({ caller, params }) =>
        deliveryView(await deliveries.replay(caller.organization.id, params.id, params.delivery_id)),
    }),
  ]
}
