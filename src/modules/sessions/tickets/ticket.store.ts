import { sql } from 'kysely'
import { createBatchLoader } from '../../../core/database/batch-loader.ts'
import type { Db } from '../../../core/database/tables.ts'
import { hasEnded } from '../../../core/permissions/authorization.ts'
import type { TicketClaims } from './ticket.ts'

/**
 * Maximum number of valid tickets per user. A new ticket invalidates the oldest one. Rejecting the new one instead would
 * lock out a user whose connections fail.
 */
const MAX_VALID_TICKETS = 32

/** The result of checking a ticket. `superseded`: the user has 32 newer tickets. */
export type TicketVerdict = 'valid' | 'credential_ended' | 'permissions_changed' | 'superseded'

/** Numbers tickets, and checks them against the database. */
export function createTicketStore({ db }: { db: Db }) {
  return {
    /** Increments the user's ticket counter. Returns the number of the new ticket. */
    async nextNumber(userId: string): Promise<number> {
      const { issued } = await db
        .insertInto('ticket_counters')
        .values({ user_id: userId, issued: 1 })
        .onConflict((conflict) =>
          conflict.column('user_id').doUpdateSet({ issued: sql`ticket_counters.issued + 1` }),
        )
        .returning('issued')
        .executeTakeFirstOrThrow()
      return issued
    },

    /** Returns whether a ticket is still valid. One query checks all tickets of the same event loop turn. */
    verdictOf: createBatchLoader(async (tickets: readonly TicketClaims[]): Promise<TicketVerdict[]> => {
      const { rows } = await sql<{ key_valid: boolean; permissions_unchanged: boolean; recent: boolean }>`
        select
          ticket.key_id is null or not ${hasEnded(sql.ref('ticket.key_id'))} as key_valid,
          u.permissions_version is not distinct from ticket.permissions_version as permissions_unchanged,
          coalesce(c.issued, 0) - ticket.number < ${MAX_VALID_TICKETS} as recent
        from unnest(
          ${tickets.map(({ userId }) => userId)}::uuid[],
          ${tickets.map(({ apiKeyId, signInId }) => apiKeyId ?? signInId ?? null)}::uuid[],
          ${tickets.map(({ permissionsVersion }) => permissionsVersion)}::bigint[],
          ${tickets.map(({ number }) => number)}::bigint[]
        ) with ordinality as ticket (user_id, key_id, permissions_version, number, ordinal)
        left join users u on u.id = ticket.user_id
        left join ticket_counters c on c.user_id = ticket.user_id
        order by ticket.ordinal`.execute(db)
      return rows.map((row) => {
        if (!row.key_valid) return 'credential_ended'
        if (!row.permissions_unchanged) return 'permissions_changed'
        return row.recent ? 'valid' : 'superseded'
      })
    }),
  }
}
export type TicketStore = ReturnType<typeof createTicketStore>
