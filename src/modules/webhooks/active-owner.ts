import type { ExpressionBuilder } from 'kysely'
import type { Tables } from '../../core/database/tables.ts'

/** Matches webhooks of teams, and of persons who are not suspended. The webhooks of a suspended person receive nothing. */
export const hasActiveOwner = ({ exists, not, selectFrom }: ExpressionBuilder<Tables, 'webhooks'>) =>
  not(
    exists(
      selectFrom('users as owners')
        .select('owners.id')
        .whereRef('owners.id', '=', 'webhooks.user_id')
        .where('owners.suspended_at', 'is not', null),
    ),
  )
