import type { Selectable } from 'kysely'
import type { Db, Tables } from '../../core/database/tables.ts'
import { notFound } from '../../core/errors/errors.ts'
import type { UpdateClientProfile } from './client-profile.schema.ts'

export type ClientProfileRow = Selectable<Tables['client_profiles']>

/** Clients' profiles. */
export function createClientProfiles(deps: { db: Db; now: () => Date }) {
  const { db, now } = deps
  return {
    /** The profile, empty and as old as its user while nothing was saved. */
    async get(userId: string): Promise<Omit<ClientProfileRow, 'user_id'>> {
      const row = await db
        .selectFrom('users')
        .leftJoin('client_profiles as profile', 'profile.user_id', 'users.id')
        .select(['company_name', 'contact_email', 'phone', 'country', 'vat_id', 'payment_method_at'])
        .select((eb) => eb.fn.coalesce('profile.created_at', 'users.created_at').as('created_at'))
        .where('users.id', '=', userId)
        .executeTakeFirst()
      if (!row) throw notFound('User')
      return row
    },

    /** Changes what is named and leaves the rest; the first change makes the profile. */
    update: (userId: string, change: UpdateClientProfile): Promise<ClientProfileRow> =>
      db
        .insertInto('client_profiles')
        .values({ user_id: userId, ...change, created_at: now() })
        .onConflict((conflict) => conflict.column('user_id').doUpdateSet(change))
        .returningAll()
        .executeTakeFirstOrThrow(),
  }
}
export type ClientProfiles = ReturnType<typeof createClientProfiles>
