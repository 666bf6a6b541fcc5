import { sql } from 'kysely'
import { createBatchLoader } from '../../../core/database/batch-loader.ts'
import type { Db } from '../../../core/database/tables.ts'
import type { TicketClaims } from './ticket.ts'

/**
 * Tickets of one user that are valid at a time. A newer one ends the oldest; refusing the newer one would keep a
 * user out whose connections fail.
 */
export const MAX_VALID_TICKETS = 32

/** Whether a ticket still admits its holder: `superseded` by 32 newer ones of the same user. */
export type TicketVerdict = 'valid' | 'credential_ended' | 'permissions_changed' | 'superseded'

/** What the database knows of tickets that were issued. */
export function createTicketStore({ db }: { db: Db }) {
  return {
    /** Counts a ticket of this user and returns its number. */
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

    /** Decides whether a ticket is still valid; one query answers all who ask in the same turn. */
    verdictOf: createBatchLoader(async (tickets: readonly TicketClaims[]): Promise<TicketVerdict[]> => {
      const { rows } = await sql<{ key_works: boolean; unchanged: boolean; recent: boolean }>`
        select
          ticket.key_id is null or exists (
            select from api_keys k
            where k.id = ticket.key_id and k.user_id = ticket.user_id
              and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
          ) as key_works,
          u.permissions_version is not distinct from ticket.version as unchanged,
          coalesce(c.issued, 0) - ticket.number < ${MAX_VALID_TICKETS} as recent
        from unnest(
          ${tickets.map(({ userId }) => userId)}::uuid[],
          ${tickets.map(({ apiKeyId }) => apiKeyId ?? null)}::uuid[],
          ${tickets.map(({ permissionsVersion }) => permissionsVersion)}::bigint[],
          ${tickets.map(({ number }) => number)}::bigint[]
        ) with ordinality as ticket (user_id, key_id, version, number, ordinal)
        left join users u on u.id = ticket.user_id
        left join ticket_counters c on c.user_id = ticket.user_id
        order by ticket.ordinal`.execute(db)
      return rows.map((row) => {
        if (!row.key_works) return 'credential_ended'
        if (!row.unchanged) return 'permissions_changed'
        return row.recent ? 'valid' : 'superseded'
      })
    }),
  }
}
export type TicketStore = ReturnType<typeof createTicketStore>
