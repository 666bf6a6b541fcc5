import { sql } from 'kysely'
import type { Db } from '../../core/database/tables.ts'
import { badRequest } from '../../core/errors/errors.ts'
import type { SaveSchedule, ScheduleView } from './schedule.schema.ts'

/** Creates the service of weekly schedules. */
export function createSchedules(deps: { db: Db; now: () => Date }) {
  const { db, now } = deps
  return {
    /** Returns the schedule. Without a saved one it has no slots, and the zone of the profile or UTC. */
    async get(userId: string): Promise<ScheduleView> {
      const row = await db
        .selectFrom('users')
        .leftJoin('operator_profiles as profile', 'profile.user_id', 'users.id')
        .leftJoin('operator_schedules as schedule', 'schedule.user_id', 'users.id')
        .select((eb) => eb.fn.coalesce('schedule.timezone', 'profile.timezone').as('timezone'))
        .select('slots')
        .where('users.id', '=', userId)
        .executeTakeFirst()
      return { timezone: row?.timezone ?? 'UTC', slots: row?.slots ?? [] }
    },

    /**
     * Replaces the schedule.
     * @throws 400 when neither the schedule nor the profile names a zone.
     */
    async replace(userId: string, week: SaveSchedule): Promise<ScheduleView> {
      const zone = sql<string>`coalesce(${week.timezone ?? null}::text, profile.timezone)`
      const saved = await db
        .insertInto('operator_schedules')
        .columns(['user_id', 'timezone', 'slots', 'updated_at'])
        .expression(
          db
            .selectFrom('users')
            .leftJoin('operator_profiles as profile', 'profile.user_id', 'users.id')
            .select([
              'users.id',
              zone.as('timezone'),
              sql`${JSON.stringify(week.slots)}::jsonb`.as('slots'),
              sql`${now()}::timestamptz`.as('updated_at'),
            ])
            .where('users.id', '=', userId)
            .where(zone, 'is not', null),
        )
        .onConflict((conflict) =>
          conflict.column('user_id').doUpdateSet((eb) => ({
            timezone: eb.ref('excluded.timezone'),
            slots: eb.ref('excluded.slots'),
            updated_at: eb.ref('excluded.updated_at'),
          })),
        )
        .returning(['timezone', 'slots'])
        .executeTakeFirst()
      if (!saved) throw badRequest('timezone: is required, because your profile names none')
      return saved
    },
  }
}
export type Schedules = ReturnType<typeof createSchedules>
