import { z } from 'zod'
import type { NotificationType } from './hub.ts'

/** The groups of notification types for which a user chooses channels. */
export const NotificationGroup = z.enum([
  'stops',
  'robot_lost',
  'pauses',
  'sessions',
  'extensions',
  'battery',
  'account',
  'money',
  'exports',
  'webhooks',
])
export type NotificationGroup = z.infer<typeof NotificationGroup>

/** How a notification reaches its user, in addition to the list of notifications. */
export const NotificationChannel = z.enum(['in_app', 'mail', 'push'])
export type NotificationChannel = z.infer<typeof NotificationChannel>

/** The group of each notification type. */
export const notificationGroups: Readonly<Record<NotificationType, NotificationGroup>> = {
  'session.stopped': 'stops',
  'session.stop_cleared': 'stops',
  'session.stop_clear_requested': 'stops',
  'robot.lost': 'robot_lost',
  'robot.back': 'robot_lost',
  'session.paused': 'pauses',
  'session.resumed': 'pauses',
  'session.pause_limit_soon': 'pauses',
  'operator.back': 'pauses',
  'session.scheduled': 'sessions',
  'session.started': 'sessions',
  'session.ended': 'sessions',
  'session.cancelled': 'sessions',
  'session.planned_end_soon': 'sessions',
  'session.rated': 'sessions',
  'control.transferred': 'sessions',
  'control.requested': 'sessions',
  'recording.paused': 'sessions',
  'extension.requested': 'extensions',
  'extension.approved': 'extensions',
  'extension.declined': 'extensions',
  'robot.battery_low': 'battery',
  'certification.approved': 'account',
  'certification.rejected': 'account',
  'certification.revoked': 'account',
  'role.removed': 'account',
  'account.suspended': 'account',
  'account.restored': 'account',
  'api_key.unused': 'account',
  'invoice.issued': 'money',
  'invoice.paid': 'money',
  'invoice.payment_failed': 'money',
  'invoice.voided': 'money',
  'payout.paid': 'money',
  'payout.failed': 'money',
  'payout.reversed': 'money',
  'export.ready': 'exports',
  'export.failed': 'exports',
  'dataset_export.ready': 'exports',
  'dataset_export.failed': 'exports',
  'webhook.disabled': 'webhooks',
}
