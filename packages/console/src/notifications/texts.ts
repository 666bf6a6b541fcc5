import {
  eventTitle,
  type NotificationEvent,
  reasonText,
  roleTexts,
  webhookOffTexts,
} from '@wheelhouse/protocol'

/**
 * Returns a notification as text: title, details and the session, if any. The title of an unknown type is its name
 * as words.
 */
export function textOf({ type, data }: Pick<NotificationEvent, 'type' | 'data'>) {
  const details = [
    data.robot_name,
    data.robot_type,
    data.host,
    roleText(data.role),
    causeText(type, data.reason),
  ].filter((text) => typeof text === 'string' && text !== '')
  const sessionId = typeof data.session_id === 'string' ? data.session_id : undefined
  return { title: eventTitle(type), detail: details.join(' · '), sessionId }
}

const causeText = (type: string, reason: unknown): string =>
  type === 'webhook.disabled' && (reason === 'gone' || reason === 'failing')
    ? webhookOffTexts[reason]
    : reasonText(reason)

const roleText = (role: unknown): string | undefined =>
  role === 'client' || role === 'operator' || role === 'admin' ? roleTexts[role] : undefined
