import type { ExpressionBuilder } from 'kysely'
import type { Tables } from '../../core/database/tables.ts'

/**
 * Matches robots whose owner is a client: nobody takes a robot whose owner can neither see nor stop it. Available
 * robots and starts ask for the same.
 */
export const ownedByClient = ({ exists, selectFrom }: ExpressionBuilder<Tables, 'robots'>) =>
  exists(
    selectFrom('users as owners')
      .select('owners.id')
      .whereRef('owners.id', '=', 'robots.owner_id')
      .where('owners.is_client', '=', true),
  )
