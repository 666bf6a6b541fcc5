import type { NotificationEvent } from '@wheelhouse/protocol'
import { eventTitle, gapText, reasonText, roleTexts, webhookOffTexts } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'

/**
 * Returns a notification as text: title, details, and the session or the export (of sessions or of datasets), if any. The title of an unknown type is
 * its name as words.
 */
export function textOf({ type, data }: Pick<NotificationEvent, 'type' | 'data'>) {
  const details = [
    data.robot_name,
    data.robot_type,
    data.host,
    roleText(data.role),
    data.name,
    causeText(type, data.reason),
    ...(type === 'export.ready' ? [formatText(data.format), rowsText(data.rows)] : []),
  ].filter((text) => typeof text === 'string' && text !== '')
  const sessionId = typeof data.session_id === 'string' ? data.session_id : undefined
  const exportId = typeof data.export_id === 'string' ? data.export_id : undefined
  const isDataset = type.startsWith('dataset_export.')
  return { title: eventTitle(type), detail: details.join(' · '), sessionId, exportId, isDataset }
}

const causeText = (type: string, reason: unknown): string =>
  type === 'webhook.disabled' && (reason === 'gone' || reason === 'failing')
    ? webhookOffTexts[reason]
    : type === 'recording.paused'
      ? gapText(reason)
      : reasonText(reason)

const roleText = (role: unknown): string | undefined =>
  role === 'client' || role === 'operator' || role === 'admin' ? roleTexts[role] : undefined

const formatText = (format: unknown): string | undefined =>
  typeof format === 'string' ? format.toUpperCase() : undefined

const rowsText = (rows: unknown): string | undefined =>
  typeof rows === 'number' ? t('notifications.rows', { count: rows }) : undefined
