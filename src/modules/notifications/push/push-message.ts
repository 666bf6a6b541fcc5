import { type NotificationGroup, type NotificationType, notificationGroups } from '@wheelhouse/protocol'
import { isUrgent } from '../digest-policy.ts'
import type { MailLanguage } from '../settings.schema.ts'
import { renderNotification } from '../texts/mail-texts.ts'

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
export function pushPayload({ seq, type, data }: PushedNotification, language: MailLanguage | null): string {
  const { subject, text } = renderNotification(language, type, data)
  return JSON.stringify({ id: String(seq), tag: tagOf(seq), title: subject, text, path: pathOf(data) })
}

/**
 * Returns how the push service treats a message: `TTL` in seconds, its urgency, and the topic, with which a repeated
 * message replaces the earlier one.
 */
export function pushOptions({ seq, type }: PushedNotification) {
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
