import { SessionStatus } from '@wheelhouse/protocol'
import { type RawBuilder, sql } from 'kysely'
import { countsOf } from '../../../core/database/counts.ts'
import type { Db } from '../../../core/database/tables.ts'

/** Average rating of the selected sessions; null without a rating. */
export const averageRating = sql<number | null>`round(avg(rating), 2)::float8`
export const ratingCount = sql<number>`count(rating)`

/** Returns the number of the sessions of a party per status, including zeros. */
export async function sessionsByStatus(
  db: Db,
  isCounted: RawBuilder<boolean>,
): Promise<Record<SessionStatus, number>> {
  const rows = await db
    .selectFrom('sessions')
    .select(['status', sql<number>`count(*)`.as('count')])
    .where(isCounted)
    .groupBy('status')
    .execute()
  return countsOf(SessionStatus.options, rows)
}
