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
  /** Returns the profile. It is empty, and as old as its organization, until something is saved. */
  async function get(organizationId: string) {
    const row = await db
      .selectFrom('organizations')
      .leftJoin('client_profiles as profile', 'profile.organization_id', 'organizations.id')
      // Of a personal organization: the person.
      .leftJoin('users as person', 'person.id', 'organizations.id')
      .select(['organizations.name', 'person.email'])
      .select(['company_name', 'contact_email', 'phone', 'country', 'vat_id', 'payment_method_at'])
      .select((eb) => eb.fn.coalesce('profile.created_at', 'organizations.created_at').as('created_at'))
      .where('organizations.id', '=', organizationId)
      .executeTakeFirst()
    if (!row) throw notFound('Organization')
    return row
  }

  return {
    get,

    /** Changes the named fields. The first change creates the profile. */
    async update(organizationId: string, change: UpdateClientProfile) {
      await upsertFields(forkEntityManager(), ClientProfile, {
        key: { organization: organizationId },
        fields: camelKeys(change),
        initial: { createdAt: now() },
      })
      return await get(organizationId)
    },
  }
}
export type ClientProfiles = ReturnType<typeof createClientProfiles>
