import type { Mail } from '../../core/mail/mailer.ts'
import { isUrgent } from './digest-policy.ts'
import { type NotificationText, renderNotification } from './mail-texts.ts'

export interface MailedNotification {
  readonly seq: number
  readonly type: string
  readonly data: Record<string, unknown>
  readonly created_at: Date
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * Renders the mail about notifications. The same input results in the same mail, so each attempt sends the same one.
 * @param notifications oldest first, at least one
 * @param more the number of older notifications, which the mail only counts
 */
export function notificationMail(
  mail: { id: string; to: string; notifications: readonly MailedNotification[]; more: number },
  platform: { baseUrl: string; domain: string; unsubscribeUrl: string },
): Mail {
  const { id, to, notifications, more } = mail
  const { baseUrl, domain, unsubscribeUrl } = platform
  const rendered = notifications.map((notification) => ({
    ...notification,
    ...renderNotification(notification.type, notification.data),
  }))
  return {
    to,
    subject: subjectOf(rendered, more),
    text: [
      ...rendered.map((notification) => paragraph(notification, baseUrl)),
      ...(more > 0 ? [`And ${more} older notifications: ${baseUrl}/dashboard\n`] : []),
      '-- ',
      'You receive this mail because you have not read these notifications at Wheelhouse yet.',
      `Unsubscribe from mails about notifications: ${unsubscribeUrl}`,
      '',
    ].join('\n'),
    messageId: `<notifications-${id}@${domain}>`,
    headers: {
      'Auto-Submitted': 'auto-generated',
      'List-Unsubscribe': `<${unsubscribeUrl}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    },
  }
}

/** Returns the subject of the newest urgent notification, or of the newest one if none is urgent. */
function subjectOf(rendered: readonly (NotificationText & { type: string })[], more: number): string {
  const headline = rendered.findLast(({ type }) => isUrgent(type)) ?? rendered.at(-1)
  const otherCount = rendered.length - 1 + more
  return `${headline?.subject}${otherCount > 0 ? ` (and ${otherCount} more)` : ''}`
}

function paragraph(
  { text, data, created_at }: NotificationText & MailedNotification,
  baseUrl: string,
): string {
  const at = created_at.toISOString().slice(0, 16).replace('T', ' ')
  return `${at} UTC\n${text}\n${linkOf(data, baseUrl)}\n`
}

/** Returns the page of the console about a notification: its session, its export, or the home page. */
function linkOf({ session_id, export_id }: Record<string, unknown>, baseUrl: string): string {
  if (isUuid(session_id)) return `${baseUrl}/dashboard?session=${session_id}`
  if (isUuid(export_id)) return `${baseUrl}/dashboard/exports?export=${export_id}`
  return `${baseUrl}/dashboard`
}

const isUuid = (value: unknown) => typeof value === 'string' && UUID.test(value)
