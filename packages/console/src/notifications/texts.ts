import { type NotificationEvent, type NotificationGroup, notificationGroups } from '@wheelhouse/protocol'
import type { ShapeName } from '../status/shape-name.ts'
import { eventTitle, gapText, reasonText, roleTexts, webhookOffTexts } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'

/** What a notification calls for: the shape of its severity. All other types are routine. */
const severities: Readonly<Record<string, ShapeName>> = {
  'session.stopped': 'stopped',
  'robot.lost': 'lost',
  'session.stop_clear_requested': 'request',
  'extension.requested': 'request',
  'session.paused': 'paused',
  'session.pause_limit_soon': 'delayed',
  'recording.paused': 'delayed',
  'robot.battery_low': 'delayed',
  'certification.rejected': 'delayed',
  'certification.revoked': 'delayed',
  'role.removed': 'delayed',
  'account.suspended': 'delayed',
  'invoice.payment_failed': 'delayed',
  'payout.failed': 'delayed',
  'payout.reversed': 'delayed',
  'export.failed': 'delayed',
  'dataset_export.failed': 'delayed',
  'webhook.disabled': 'delayed',
  'api_key.unused': 'delayed',
}

/** Returns the group of a notification; undefined for a type that this version does not know. */
const groupOf = (type: string): NotificationGroup | undefined =>
  (notificationGroups as Readonly<Record<string, NotificationGroup>>)[type]

/**
 * Returns a notification as text: title, details, severity and group, and the session or the export (of sessions or of
 * datasets), if any. The title of an unknown type is its name as words.
 */
export function textOf({ type, data }: Pick<NotificationEvent, 'type' | 'data'>) {
  const details = [
    data.robot_name,
    data.robot_type,
    data.host,
    roleText(data.role),
    data.service_account,
    data.name,
    causeText(type, data.reason),
    ...(type === 'export.ready' ? [formatText(data.format), rowsText(data.rows)] : []),
  ].filter((text) => typeof text === 'string' && text !== '')
  const sessionId = typeof data.session_id === 'string' ? data.session_id : undefined
  const exportId = typeof data.export_id === 'string' ? data.export_id : undefined
  const isDataset = type.startsWith('dataset_export.')
  const [shape, group] = [severities[type] ?? 'off', groupOf(type)]
  return {
    title: eventTitle(type),
    detail: details.join(' · '),
    shape,
    group,
    isImportant: (shape !== 'off' && shape !== 'paused') || group === 'money',
    sessionId,
    exportId,
    isDataset,
  }
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
