import { NotificationChannel, NotificationGroup } from '@wheelhouse/protocol'
import { sql } from 'kysely'
import type { Db } from '../../core/database/tables.ts'
import type { NotificationMatrix, SettingsChange, SettingsView } from './settings.schema.ts'

/** Creates the service for a user's notification settings. */
export function createNotificationSettings({ db }: { db: Db }) {
  async function read(userId: string): Promise<SettingsView> {
    const row = await db
      .selectFrom('notification_settings')
      .select(['muted', 'quiet_hours', 'language'])
      .where('user_id', '=', userId)
      .executeTakeFirst()
    return {
      matrix: matrixOf(row?.muted ?? []),
      quiet_hours: row?.quiet_hours ?? null,
      language: row?.language ?? null,
    }
  }

  return {
    read,

    /** Changes the given cells of the matrix, and the quiet hours and the language if given. Concurrent changes merge. */
    async change(userId: string, change: SettingsChange): Promise<SettingsView> {
      const { matrix = {}, quiet_hours, language } = change
      const cells = Object.entries(matrix).flatMap(([group, channels]) =>
        Object.entries(channels ?? {}).map(([channel, on]) => ({ cell: `${group}.${channel}`, on })),
      )
      const off = cells.filter(({ on }) => !on).map(({ cell }) => cell)
      const on = cells.filter((cell) => cell.on).map(({ cell }) => cell)
      const quietHours = quiet_hours ? JSON.stringify(quiet_hours) : null
      await db
        .insertInto('notification_settings')
        .values({
          user_id: userId,
          muted: off,
          quiet_hours: sql`${quietHours}::jsonb`,
          language: language ?? null,
        })
        .onConflict((conflict) =>
          conflict.column('user_id').doUpdateSet({
            muted: sql<string[]>`array(
              select unnest(notification_settings.muted || excluded.muted) except select unnest(${on}::text[]))`,
            ...(quiet_hours !== undefined && { quiet_hours: sql`excluded.quiet_hours` }),
            ...(language !== undefined && { language }),
          }),
        )
        .execute()
      return await read(userId)
    },
  }
}
export type NotificationSettingsService = ReturnType<typeof createNotificationSettings>

function matrixOf(muted: readonly string[]): NotificationMatrix {
  const rowOf = (group: string) =>
    Object.fromEntries(
      NotificationChannel.options.map((channel) => [channel, !muted.includes(`${group}.${channel}`)]),
    )
  return Object.fromEntries(
    NotificationGroup.options.map((group) => [group, rowOf(group)]),
  ) as NotificationMatrix
}
