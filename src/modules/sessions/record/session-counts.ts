import { SessionStatus } from '@wheelhouse/protocol'
import { sql } from 'kysely'
import { countsOf } from '../../../core/database/counts.ts'
import type { Db } from '../../../core/database/tables.ts'

/** Average rating of the selected sessions; null without a rating. */
export const averageRating = sql<number | null>`round(avg(rating), 2)::float8`
export const ratingCount = sql<number>`count(rating)`

/** Returns the number of a user's sessions per status, including zeros. */
export async function sessionsByStatus(
  db: Db,
  partyColumn: 'client_id' | 'operator_id',
  userId: string,
): Promise<Record<SessionStatus, number>> {
  const rows = await db
    .selectFrom('sessions')
    .select(['status', sql<number>`count(*)`.as('count')])
    .where(partyColumn, '=', userId)
    .groupBy('status')
    .execute()
  return countsOf(SessionStatus.options, rows)
}
