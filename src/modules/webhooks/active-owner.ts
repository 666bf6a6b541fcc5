import type { ExpressionBuilder } from 'kysely'
import type { Tables } from '../../core/database/tables.ts'

/** Matches webhooks whose owner is not suspended. The webhooks of a suspended user receive nothing. */
export const hasActiveOwner = ({ exists, selectFrom }: ExpressionBuilder<Tables, 'webhooks'>) =>
  exists(
    selectFrom('users as owners')
      .select('owners.id')
      .whereRef('owners.id', '=', 'webhooks.user_id')
      .where('owners.suspended_at', 'is', null),
  )
