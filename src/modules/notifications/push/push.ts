import type { CoreServices } from '../../../core/core-services.ts'
import { createPushDecision } from './push-decision.ts'
import { createPushDelivery } from './push-delivery.ts'
import { NOTIFICATION_PUSHES, PUSH_MESSAGES } from './push-queues.ts'
import type { PushService } from './push-service.ts'
import { createPushSubscriptions } from './push-subscription.service.ts'
import { createVapidKeys, type VapidKeys } from './vapid-keys.ts'

export interface PushOptions {
  readonly pushService: PushService
  readonly vapid: { readonly keys: VapidKeys | undefined; readonly subject: string | undefined }
}

/** Creates the services of browser push (RFC 8030, VAPID). */
export function createPush(core: CoreServices, { pushService, vapid }: PushOptions) {
  const vapidKeys = createVapidKeys({ ...core, configured: vapid.keys })
  const subject = vapid.subject ?? contactOf(core.baseUrl)
  core.jobs.register(NOTIFICATION_PUSHES, createPushDecision(core))
  core.jobs.register(PUSH_MESSAGES, createPushDelivery({ ...core, pushService, vapidKeys, subject }))
  return { pushSubscriptions: createPushSubscriptions({ ...core, pushService }), vapidKeys }
}

/** Returns the subject of VAPID for a public origin. It must be https or mailto (RFC 8292). */
const contactOf = (baseUrl: string): string =>
  baseUrl.startsWith('https:') ? baseUrl : `mailto:wheelhouse@${new URL(baseUrl).hostname}`
