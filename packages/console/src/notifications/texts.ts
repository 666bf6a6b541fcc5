import {
  eventTitle,
  type NotificationEvent,
  reasonText,
  roleTexts,
  webhookOffTexts,
} from '@wheelhouse/protocol'

/**
 * A notification in words: what happened, to which robot, and in which session, if in one. Kinds that are new here are
 * named as they come.
 */
export function textOf({ type, data }: Pick<NotificationEvent, 'type' | 'data'>) {
  const about = [
    data.robot_name,
    data.robot_type,
    data.host,
    roleText(data.role),
    why(type, data.reason),
  ].filter((text) => typeof text === 'string' && text !== '')
  const sessionId = typeof data.session_id === 'string' ? data.session_id : undefined
  return { title: eventTitle(type), detail: about.join(' · '), sessionId }
}

const why = (type: string, reason: unknown): string =>
  type === 'webhook.disabled' && (reason === 'gone' || reason === 'failing')
    ? webhookOffTexts[reason]
    : reasonText(reason)

const roleText = (role: unknown): string | undefined =>
  role === 'client' || role === 'operator' || role === 'admin' ? roleTexts[role] : undefined
