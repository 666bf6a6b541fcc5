import type { ExpressionBuilder } from 'kysely'
import type { Tables } from '../../core/database/tables.ts'

/**
 * Matches robots whose owner has the client role and is not suspended. Another owner could neither see nor stop the robot, so
 * the list of available robots and the start of a session both require it.
 */
export const ownedByClient = ({ exists, selectFrom }: ExpressionBuilder<Tables, 'robots'>) =>
  exists(
    selectFrom('users as owners')
      .select('owners.id')
      .whereRef('owners.id', '=', 'robots.owner_id')
      .where('owners.is_client', '=', true)
      .where('owners.suspended_at', 'is', null),
  )
