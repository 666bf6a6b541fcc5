import { sql } from 'kysely'
import { iso } from '../../core/database/iso.ts'
import type { Db } from '../../core/database/tables.ts'
import { notFound } from '../../core/errors/errors.ts'
import { PRESENCE_TTL_SECONDS } from '../identity/index.ts'
import { openingAt } from './availability.ts'
import type { AvailabilityView, UnavailableReason } from './schedule.schema.ts'

/** Creates the service that decides whether an operator is available: schedule, open session, connection to the hub. */
export function createAvailability(deps: { db: Db; now: () => Date }) {
  const { db, now } = deps
  return async (operatorId: string): Promise<AvailabilityView> => {
    const row = await db
      .selectFrom('users')
      .leftJoin('operator_schedules as schedule', 'schedule.user_id', 'users.id')
      .leftJoin('user_presence as presence', 'presence.user_id', 'users.id')
      .leftJoin('sessions', (join) =>
        join.onRef('sessions.operator_id', '=', 'users.id').on('sessions.status', 'in', ['ACTIVE', 'PAUSED']),
      )
      .select(['schedule.timezone', 'schedule.slots', 'sessions.id as session_id'])
      .select(
        sql<boolean | null>`presence.seen_at > now() - ${PRESENCE_TTL_SECONDS} * interval '1 second'`.as(
          'present',
        ),
      )
      .where('users.id', '=', operatorId)
      .executeTakeFirst()
    if (!row) throw notFound('User')

    const slots = row.slots ?? []
    const opening = openingAt({ timezone: row.timezone ?? 'UTC', slots }, now())
    const obstacle = (): UnavailableReason | null => {
      if (row.session_id) return 'in_session'
      if (slots.length === 0) return 'no_schedule'
      if (!opening.open) return 'outside_schedule'
      return row.present ? null : 'offline'
    }
    const reason = obstacle()
    return {
      available: reason === null,
      reason,
      next_available_at: iso(opening.opensAt),
      open_session_id: row.session_id,
    }
  }
}
export type Availability = ReturnType<typeof createAvailability>
