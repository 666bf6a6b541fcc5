import type { Db } from '../../../core/database/tables.ts'
import { cellOf, wantsPush } from '../preferences.ts'
import type { PushJob } from './push-queues.ts'

/** Older notifications are not pushed: a message this late is of no use. */
const GIVE_UP_MS = 48 * 3_600_000

/**
 * Returns a notification with the quiet hours and the language of its user. Returns undefined if it must not be pushed any more: it was
 * read, it is too old, the user turned the channel off, or an admin suspended the user.
 */
export async function loadPushed(db: Db, { userId, seq }: PushJob, at: Date) {
  const row = await db
    .selectFrom('notifications')
    .innerJoin('users', 'users.id', 'notifications.user_id')
    .leftJoin('notification_settings', 'notification_settings.user_id', 'users.id')
    .select([
      'notifications.seq',
      'notifications.type',
      'notifications.data',
      'notifications.created_at',
      'notification_settings.quiet_hours',
      'notification_settings.muted',
      'notification_settings.language',
    ])
    .where('notifications.user_id', '=', userId)
    .where('notifications.seq', '=', seq)
    .where('notifications.read_at', 'is', null)
    .where('notifications.created_at', '>', new Date(at.getTime() - GIVE_UP_MS))
    .where('users.suspended_at', 'is', null)
    .where(wantsPush)
    .executeTakeFirst()
  return row && !row.muted?.includes(cellOf(row.type, 'push')) ? row : undefined
}
