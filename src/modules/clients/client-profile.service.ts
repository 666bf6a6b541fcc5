import type { EntityManager } from '@mikro-orm/postgresql'
import { camelKeys } from '../../core/database/camel-keys.ts'
import type { Db } from '../../core/database/tables.ts'
import { upsertFields } from '../../core/database/upsert-fields.ts'
import { notFound } from '../../core/errors/errors.ts'
import { ClientProfile } from './client-profile.entity.ts'
import type { UpdateClientProfile } from './client-profile.schema.ts'

/** Creates the service of client profiles. */
export function createClientProfiles(deps: {
  db: Db
  forkEntityManager: () => EntityManager
  now: () => Date
}) {
  const { db, forkEntityManager, now } = deps
  /** Returns the profile. It is empty, and as old as its user, until something is saved. */
  async function get(userId: string) {
    const row = await db
      .selectFrom('users')
      .leftJoin('client_profiles as profile', 'profile.user_id', 'users.id')
      .select(['company_name', 'contact_email', 'phone', 'country', 'vat_id', 'payment_method_at'])
      .select((eb) => eb.fn.coalesce('profile.created_at', 'users.created_at').as('created_at'))
      .where('users.id', '=', userId)
      .executeTakeFirst()
    if (!row) throw notFound('User')
    return row
  }

  return {
    get,

    /** Changes the named fields. The first change creates the profile. */
    async update(userId: string, change: UpdateClientProfile) {
      await upsertFields(forkEntityManager(), ClientProfile, {
        key: { user: userId },
        fields: camelKeys(change),
        initial: { createdAt: now() },
      })
      return await get(userId)
    },
  }
}
export type ClientProfiles = ReturnType<typeof createClientProfiles>
