import type { QueryCreator } from 'kysely'
import type { Tables } from '../../core/database/tables.ts'

/**
 * Selects the epochs, `held`, in which operators controlled a robot in `sessions` of others, and earned by it. What they earned is not in
 * the session's own columns, which are about its operator.
 */
export const guestIntervals = (db: QueryCreator<Tables>) =>
  db
    .selectFrom('control_intervals as held')
    .innerJoin('sessions', 'sessions.id', 'held.session_id')
    .where('held.plan_id', 'is not', null)
    .whereRef('held.user_id', '<>', 'sessions.operator_id')
