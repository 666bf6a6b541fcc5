import { type NotificationChannel, type NotificationType, notificationGroups } from '@wheelhouse/protocol'
import { type RawBuilder, sql } from 'kysely'

/** SQL conditions on `users`: whether a user wants mail and whether a user wants push. Both default to true. */
export const wantsMail = sql<boolean>`coalesce((users.notification_preferences ->> 'email')::boolean, true)`
export const wantsPush = sql<boolean>`coalesce((users.notification_preferences ->> 'push')::boolean, true)`

/** SQL condition on `users`: whether a user has a verified address. */
export const hasAddress = sql<boolean>`(users.email is not null and users.email_verified)`

/** Returns the name of the cell of the matrix that applies to a notification type and a channel. */
export const cellOf = (type: string, channel: NotificationChannel): string =>
  `${notificationGroups[type as NotificationType] ?? 'sessions'}.${channel}`

/** Returns the SQL condition on `users` that a cell of the matrix is on. */
export const isOn = (cell: RawBuilder<unknown>) => sql<boolean>`not exists (
  select from notification_settings as settings
  where settings.user_id = users.id and ${cell}::text = any(settings.muted))`

/** SQL condition on `users`: whether an admin has suspended a user. */
export const isSuspended = sql<boolean>`(users.suspended_at is not null)`

/** The types that suspended users still receive by mail: about the suspension, and about money. */
export const MAILED_WHILE_SUSPENDED: readonly string[] = [
  'account.suspended',
  ...Object.keys(notificationGroups).filter((type) => cellOf(type, 'mail') === 'money.mail'),
]

/** SQL condition on `users`: whether a browser of the user receives notifications. */
export const hasBrowser = sql<boolean>`exists (select from push_subscriptions where user_id = users.id)`
