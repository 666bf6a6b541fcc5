import { sql } from 'kysely'
import type { CoreServices } from '../../../core/core-services.ts'
import type { Transact, Tx } from '../../../core/events/transactor.ts'
import type { Attempt } from '../../../core/jobs/queue.ts'
import { isUrgent } from '../digest-policy.ts'
import { URGENT_PRIORITY } from '../mail.service.ts'
import { heldUntil } from '../quiet-hours.ts'
import type { QuietHours } from '../settings.schema.ts'
import { createPushDelivery } from './push-delivery.ts'
import { NOTIFICATION_PUSHES, PUSH_MESSAGES, type PushJob } from './push-queues.ts'
import type { PushService } from './push-service.ts'
import { createPushSubscriptions } from './push-subscription.service.ts'
import { loadPushed } from './pushed-notification.ts'
import { createVapidKeys, type VapidKeys } from './vapid-keys.ts'

/** Maximum number of later notifications that are read to find the last one of quiet hours. */
const MAX_LATER = 500

/** Creates the handler that decides about a notification: a message for each browser, now or after quiet hours. */
const createPushDecision =
  ({ transact, now }: { transact: Transact; now: () => Date }) =>
  (attempt: Attempt<PushJob>): Promise<void> =>
    transact(async (tx) => {
      const { userId, seq } = attempt.data
      const at = now()
      const notification = await loadPushed(tx.db, attempt.data, at)
      if (notification) {
        const { quiet_hours, type, created_at } = notification
        const startAt = heldUntil(quiet_hours, type, at)
        const wasHeld = heldUntil(quiet_hours, type, created_at) !== undefined
        if (startAt) tx.enqueue({ queue: NOTIFICATION_PUSHES, data: { userId, seq }, startAt })
        else if (!(wasHeld && (await isFollowed(tx, attempt.data, quiet_hours))))
          await enqueueMessages(tx, attempt.data, isUrgent(type) ? URGENT_PRIORITY : 0)
      }
      // The job and its successors are one commit, so that a browser gets no second message after a crash.
      await attempt.complete(tx)
    })

/** Returns whether quiet hours held back a later notification, too. Only the last one is pushed, as one mail is sent. */
async function isFollowed(tx: Tx, { userId, seq }: PushJob, hours: QuietHours | null): Promise<boolean> {
  const later = await tx.db
    .selectFrom('notifications')
    .select(['type', 'created_at'])
    .where('user_id', '=', userId)
    .where('seq', '>', seq)
    .where('read_at', 'is', null)
    .where('by_push', '=', true)
    .orderBy('seq')
    .limit(MAX_LATER)
    .execute()
  return later.some(({ type, created_at }) => heldUntil(hours, type, created_at) !== undefined)
}

async function enqueueMessages(tx: Tx, { userId, seq }: PushJob, priority: number): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select id from push_subscriptions where user_id = ${userId} order by created_at`.execute(tx.db)
  for (const { id } of rows)
    tx.enqueue({ queue: PUSH_MESSAGES, data: { userId, seq, subscriptionId: id }, priority })
}

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
