import { type NotificationGroup, type NotificationType, notificationGroups } from '@wheelhouse/protocol'
import webPush from 'web-push'
import type { CoreServices } from '../../../core/core-services.ts'
import { type Attempt, RetryAt } from '../../../core/jobs/queue.ts'
import { isUrgent } from '../digest-policy.ts'
import type { MailLanguage } from '../settings.schema.ts'
import { renderNotification } from '../texts/mail-texts.ts'
import type { PushMessageJob } from './push-queues.ts'
import type { PushOutcome, PushService } from './push-service.ts'
import { loadPushed } from './pushed-notification.ts'
import type { ReadVapidKeys } from './vapid-keys.ts'

const HOUR_SECONDS = 3_600
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Groups whose notifications concern a session that is going on. A phone may save its battery with the others. */
const CURRENT: ReadonlySet<NotificationGroup> = new Set([
  'stops',
  'robot_lost',
  'pauses',
  'sessions',
  'extensions',
  'battery',
])

interface PushedNotification {
  readonly seq: number
  readonly type: string
  readonly data: Record<string, unknown>
}

/** Returns the payload of a push message. It contains no more than the mail about the notification. */
function pushPayload({ seq, type, data }: PushedNotification, language: MailLanguage | null): string {
  const { subject, text } = renderNotification(language, type, data)
  return JSON.stringify({ id: String(seq), tag: tagOf(seq), title: subject, text, path: pathOf(data) })
}

/**
 * Returns how the push service treats a message: `TTL` in seconds, its urgency, and the topic, with which a repeated
 * message replaces the earlier one.
 */
function pushOptions({ seq, type }: PushedNotification) {
  const group = notificationGroups[type as NotificationType] ?? 'sessions'
  const current = CURRENT.has(group)
  return {
    TTL: current ? HOUR_SECONDS : 24 * HOUR_SECONDS,
    urgency: isUrgent(type) ? ('high' as const) : current ? ('normal' as const) : ('low' as const),
    topic: tagOf(seq),
  }
}

const tagOf = (seq: number) => `notification-${seq}`

/** Returns the page of the console about a notification. */
function pathOf({ session_id, export_id }: Record<string, unknown>): string {
  if (isUuid(session_id)) return `/dashboard?session=${session_id}`
  if (isUuid(export_id)) return `/dashboard/exports?export=${export_id}`
  return '/dashboard'
}

const isUuid = (value: unknown) => typeof value === 'string' && UUID.test(value)

const FIRST_RETRY_MS = 10_000
const MAX_RETRY_MS = 30 * 60_000
/** The browser has unsubscribed (RFC 8030). */
const GONE = [404, 410]

/** Creates the handler that encrypts a notification for one browser and posts it to the push service. */
export function createPushDelivery(
  deps: Pick<CoreServices, 'db' | 'now' | 'log'> & {
    pushService: PushService
    vapidKeys: ReadVapidKeys
    /** The contact for operators of push services: a URL of https or mailto. */
    subject: string
  },
) {
  const { db, now, log, pushService, vapidKeys, subject } = deps

  async function record({ subscriptionId }: PushMessageJob, { outcome, status }: PushOutcome): Promise<void> {
    if (outcome === 'delivered')
      await db
        .updateTable('push_subscriptions')
        .set({ last_success_at: now() })
        .where('id', '=', subscriptionId)
        .execute()
    else if (status !== undefined && GONE.includes(status))
      await db.deleteFrom('push_subscriptions').where('id', '=', subscriptionId).execute()
    else log.warn({ subscriptionId, outcome, status }, 'a push service refused a notification')
  }

  return async ({ data, number, signal }: Attempt<PushMessageJob>): Promise<void> => {
    const notification = await loadPushed(db, data, now())
    const subscription = await db
      .selectFrom('push_subscriptions')
      .select(['endpoint', 'p256dh', 'auth'])
      .where('id', '=', data.subscriptionId)
      .where('user_id', '=', data.userId)
      .executeTakeFirst()
    if (!notification || !subscription) return
    const { endpoint, ...keys } = subscription
    const payload = pushPayload(notification, notification.language)
    const request = webPush.generateRequestDetails({ endpoint, keys }, payload, {
      ...pushOptions(notification),
      vapidDetails: { subject, ...(await vapidKeys()) },
      contentEncoding: 'aes128gcm',
    })
    const message = { headers: headersOf(request.headers), body: request.body ?? Buffer.alloc(0) }
    const outcome = await pushService.post(endpoint, message, signal)
    if (mayRetry(outcome)) throw retryOf(outcome, number, now())
    await record(data, outcome)
  }
}

/** Returns whether the same message can succeed later. */
const mayRetry = ({ outcome, status = 0 }: PushOutcome) =>
  outcome === 'unreachable' || outcome === 'stopped' || status === 429 || status >= 500

function retryOf(
  { outcome, status, error, retryAfterMs = 0 }: PushOutcome,
  number: number,
  at: Date,
): RetryAt {
  const backoffMs = outcome === 'stopped' ? 0 : Math.min(FIRST_RETRY_MS * 2 ** (number - 1), MAX_RETRY_MS)
  const delayMs = Math.min(Math.max(backoffMs, retryAfterMs), MAX_RETRY_MS)
  return new RetryAt(new Date(at.getTime() + delayMs), error ?? `${outcome} ${status ?? ''}`.trim())
}

const headersOf = (headers: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => name.toLowerCase() !== 'content-length')
      .map(([name, value]) => [name, String(value)]),
  )
