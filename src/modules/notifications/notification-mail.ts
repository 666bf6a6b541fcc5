import { mailHtml } from '../../core/mail/mail-html.ts'
import type { Mail } from '../../core/mail/mailer.ts'
import { isUrgent } from './digest-policy.ts'
import { type NotificationText, renderNotification } from './mail-texts.ts'

export interface MailedNotification {
  readonly seq: number
  readonly type: string
  readonly data: Record<string, unknown>
  readonly created_at: Date
}

const WHY = 'You receive this mail because you have not read these notifications at Wheelhouse yet.'
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
      WHY,
      `Unsubscribe from mails about notifications: ${unsubscribeUrl}`,
      '',
    ].join('\n'),
    html: mailHtml({
      title: headlineOf(rendered).subject,
      entries: rendered.map(({ text, created_at }) => ({ caption: formatTime(created_at), text })),
      ...(more > 0 && { remark: `And ${more} older notifications.` }),
      button: buttonOf(rendered, more, baseUrl),
      footer: { text: WHY, label: 'Unsubscribe from mails about notifications', url: unsubscribeUrl },
    }),
    messageId: `<notifications-${id}@${domain}>`,
    headers: {
      'Auto-Submitted': 'auto-generated',
      'List-Unsubscribe': `<${unsubscribeUrl}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    },
  }
}

type RenderedNotification = NotificationText & MailedNotification

/** Returns the newest urgent notification, or the newest one if none is urgent. */
function headlineOf(rendered: readonly RenderedNotification[]): RenderedNotification {
  const headline = rendered.findLast(({ type }) => isUrgent(type)) ?? rendered.at(-1)
  if (!headline) throw new Error('a mail without notifications')
  return headline
}

function subjectOf(rendered: readonly RenderedNotification[], more: number): string {
  const otherCount = rendered.length - 1 + more
  return `${headlineOf(rendered).subject}${otherCount > 0 ? ` (and ${otherCount} more)` : ''}`
}

function paragraph({ text, data, created_at }: RenderedNotification, baseUrl: string): string {
  return `${formatTime(created_at)}\n${text}\n${linkOf(data, baseUrl)}\n`
}

const formatTime = (at: Date) => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`

/** Returns the button: the page of the notifications if they have the same one, otherwise the home page. */
function buttonOf(rendered: readonly RenderedNotification[], more: number, baseUrl: string) {
  const pages = new Set(rendered.map(({ data }) => linkOf(data, baseUrl)))
  const [url = ''] = pages
  if (pages.size > 1 || more > 0) return { label: 'Open console', url: `${baseUrl}/dashboard` }
  if (url.includes('?session=')) return { label: 'Open session', url }
  return { label: url.includes('?export=') ? 'Open export' : 'Open console', url }
}

/** Returns the page of the console about a notification: its session, its export, or the home page. */
function linkOf({ session_id, export_id }: Record<string, unknown>, baseUrl: string): string {
  if (isUuid(session_id)) return `${baseUrl}/dashboard?session=${session_id}`
  if (isUuid(export_id)) return `${baseUrl}/dashboard/exports?export=${export_id}`
  return `${baseUrl}/dashboard`
}

const isUuid = (value: unknown) => typeof value === 'string' && UUID.test(value)
