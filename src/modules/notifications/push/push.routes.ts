import { z } from 'zod'
import { type Endpoint, endpoint, idParams } from '../../../core/http/endpoint.ts'
import { browserLabel } from './browser-label.ts'
import { PushKeyView, PushSubscriptionView, SubscribePush } from './push.schema.ts'
import type { PushSubscriptions } from './push-subscription.service.ts'
import type { ReadVapidKeys } from './vapid-keys.ts'

const SUBSCRIPTIONS = '/api/notifications/push/subscriptions'

/** Creates the endpoints of browser push. */
export function pushEndpoints(deps: {
  pushSubscriptions: PushSubscriptions
  vapidKeys: ReadVapidKeys
}): Endpoint[] {
  const { pushSubscriptions, vapidKeys } = deps
  return [
    endpoint({
      method: 'get',
      path: '/api/notifications/push/key',
      summary: 'Returns the key with which a browser subscribes to push notifications',
      access: {},
      response: [200, PushKeyView],
      run: async () => ({ public_key: (await vapidKeys()).publicKey }),
    }),
    endpoint({
      method: 'get',
      path: SUBSCRIPTIONS,
      list: true,
      summary: 'Lists the browsers that receive your notifications, newest first',
      access: { person: true },
      response: [200, z.object({ subscriptions: z.array(PushSubscriptionView).max(10) })],
      run: ({ caller }) => pushSubscriptions.list(caller.userId),
    }),
    endpoint({
      method: 'post',
      path: SUBSCRIPTIONS,
      summary: 'Subscribes a browser to your notifications. An eleventh browser replaces the oldest',
      access: { person: true },
      body: SubscribePush,
      response: [201, PushSubscriptionView],
      errors: { 409: { push_endpoint_taken: 'when the endpoint belongs to another user' } },
      run: ({ caller, body, http }) =>
        pushSubscriptions.subscribe(caller.userId, body, browserLabel(http.get('User-Agent'))),
    }),
    endpoint({
      method: 'delete',
      path: `${SUBSCRIPTIONS}/{id}`,
      summary: 'Removes a browser, which then receives no more notifications',
      access: { person: true },
      params: idParams('pushSubscription'),
      response: [204],
      run: async ({ caller, params }) => pushSubscriptions.remove(caller.userId, params.id),
    }),
  ]
}
