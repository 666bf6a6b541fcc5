import type { EntityManager } from '@mikro-orm/postgresql'
import { camelKeys } from '../../core/database/camel-keys.ts'
import type { Db } from '../../core/database/tables.ts'
import { upsertFields } from '../../core/database/upsert-fields.ts'
import { notFound } from '../../core/errors/errors.ts'
import { averageRating, ratingCount } from '../sessions/index.ts'
import type { SaveOperatorProfile } from './operator-profile.schema.ts'
import { OperatorProfile } from './operators.entity.ts'

/** Creates the service of operator profiles and their ratings. */
export function createOperatorProfiles(deps: {
  db: Db
  forkEntityManager: () => EntityManager
  now: () => Date
}) {
  const { db, forkEntityManager, now } = deps

  /** Returns the profile with its ratings. It is empty, and as old as its user, until something is saved. */
  async function get(userId: string) {
    const row = await db
      .selectFrom('users')
      .leftJoin('operator_profiles as profile', 'profile.user_id', 'users.id')
      .leftJoinLateral(
        (eb) =>
          eb
            .selectFrom('sessions')
            .select([averageRating.as('rating_average'), ratingCount.as('rating_count')])
            .whereRef('operator_id', '=', 'users.id')
            .where('status', '=', 'COMPLETED') // only completed sessions are rated
            .as('ratings'),
        (join) => join.onTrue(),
      )
      .select(['headline', 'bio', 'country', 'timezone', 'languages', 'payout_ready_at'])
      .select(['rating_average', 'rating_count'])
      .select((eb) => eb.fn.coalesce('profile.created_at', 'users.created_at').as('created_at'))
      .where('users.id', '=', userId)
      .executeTakeFirst()
    if (!row) throw notFound('User')
    return row
  }

  return {
    get,

    /** Changes the named fields. The first call creates the profile, even an empty one. */
    async save(userId: string, change: SaveOperatorProfile) {
      await upsertFields(forkEntityManager(), OperatorProfile, {
        key: { user: userId },
        fields: camelKeys(change),
        initial: { createdAt: now() },
      })
      return await get(userId)
    },
  }
}
export type OperatorProfiles = ReturnType<typeof createOperatorProfiles>
