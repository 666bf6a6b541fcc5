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
 * The mail that tells of notifications. It follows from them alone, so that it is the same at every attempt.
 * @param notifications oldest first, at least one
 * @param more how many older ones there are
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
      ...(more > 0 ? [`And ${more} older, at ${baseUrl}/dashboard\n`] : []),
      '-- ',
      'You get this because you have not read it at Wheelhouse yet.',
      `No mails about notifications any more: ${unsubscribeUrl}`,
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

/** What is urgent speaks for the rest; else the newest does. */
function subjectOf(rendered: readonly (NotificationText & { type: string })[], more: number): string {
  const headline = rendered.findLast(({ type }) => isUrgent(type)) ?? rendered.at(-1)
  const others = rendered.length - 1 + more
  return `${headline?.subject}${others > 0 ? ` (and ${others} more)` : ''}`
}

function paragraph(
  { text, data, created_at }: NotificationText & MailedNotification,
  baseUrl: string,
): string {
  const at = created_at.toISOString().slice(0, 16).replace('T', ' ')
  const session =
    typeof data.session_id === 'string' && UUID.test(data.session_id) ? data.session_id : undefined
  const link = `${baseUrl}/dashboard${session ? `?session=${session}` : ''}`
  return `${at} UTC\n${text}\n${link}\n`
}
