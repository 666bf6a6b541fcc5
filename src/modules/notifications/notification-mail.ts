import { mailHtml } from '../../core/mail/mail-html.ts'
import type { Mail } from '../../core/mail/mailer.ts'
import { isUrgent } from './digest-policy.ts'
import type { MailLanguage } from './settings.schema.ts'
import { mailTexts, renderNotification } from './texts/mail-texts.ts'
import type { MailTexts, NotificationText } from './texts/text-parts.ts'

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
  mail: {
    id: string
    to: string
    language: MailLanguage | null
    notifications: readonly MailedNotification[]
    more: number
  },
  platform: { baseUrl: string; domain: string; unsubscribeUrl: string },
): Mail {
  const { id, to, language, notifications, more } = mail
  const texts = mailTexts(language)
  const { baseUrl, domain, unsubscribeUrl } = platform
  const rendered = notifications.map((notification) => ({
    ...notification,
    ...renderNotification(language, notification.type, notification.data),
  }))
  return {
    to,
    subject: subjectOf(rendered, more, texts),
    text: [
      ...rendered.map((notification) => paragraph(notification, baseUrl)),
      ...(more > 0 ? [`${texts.older(more)}: ${baseUrl}/dashboard\n`] : []),
      '-- ',
      texts.why,
      `${texts.unsubscribe}: ${unsubscribeUrl}`,
      '',
    ].join('\n'),
    html: mailHtml({
      language: language ?? 'en',
      title: headlineOf(rendered).subject,
      entries: rendered.map(({ text, created_at }) => ({ caption: formatTime(created_at), text })),
      ...(more > 0 && { remark: `${texts.older(more)}.` }),
      button: buttonOf(rendered, more, baseUrl, texts),
      footer: { text: texts.why, label: texts.unsubscribe, url: unsubscribeUrl },
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

function subjectOf(rendered: readonly RenderedNotification[], more: number, texts: MailTexts): string {
  const otherCount = rendered.length - 1 + more
  return `${headlineOf(rendered).subject}${otherCount > 0 ? ` (${texts.others(otherCount)})` : ''}`
}

function paragraph({ text, data, created_at }: RenderedNotification, baseUrl: string): string {
  return `${formatTime(created_at)}\n${text}\n${linkOf(data, baseUrl)}\n`
}

const formatTime = (at: Date) => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`

/** Returns the button: the page of the notifications if they have the same one, otherwise the home page. */
function buttonOf(
  rendered: readonly RenderedNotification[],
  more: number,
  baseUrl: string,
  { openConsole, openSession, openExport }: MailTexts,
) {
  const pages = new Set(rendered.map(({ data }) => linkOf(data, baseUrl)))
  const [url = ''] = pages
  if (pages.size > 1 || more > 0) return { label: openConsole, url: `${baseUrl}/dashboard` }
  if (url.includes('?session=')) return { label: openSession, url }
  return { label: url.includes('?export=') ? openExport : openConsole, url }
}

/** Returns the page of the console about a notification: its session, its export, or the home page. */
function linkOf({ session_id, export_id }: Record<string, unknown>, baseUrl: string): string {
  if (isUuid(session_id)) return `${baseUrl}/dashboard?session=${session_id}`
  if (isUuid(export_id)) return `${baseUrl}/dashboard/exports?export=${export_id}`
  return `${baseUrl}/dashboard`
}

const isUuid = (value: unknown) => typeof value === 'string' && UUID.test(value)
