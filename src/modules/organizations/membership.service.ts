import { sql } from 'kysely'
import { createBatchLoader } from '../../core/database/batch-loader.ts'
import { compiled } from '../../core/database/compiled.ts'
import type { Db } from '../../core/database/tables.ts'
import { forbidden, notFound } from '../../core/errors/errors.ts'
import type { Memberships } from '../../core/permissions/caller.ts'

/** Maximum number of memberships that one query reads. */
const MAX_MEMBERSHIPS_PER_QUERY = 500

const findMemberships = compiled<{ organizationIds: readonly string[]; userIds: readonly string[] }>()(
  (db, param) =>
    db
      .selectFrom(
        sql<{ organization_id: string; user_id: string; position: number }>`unnest(
          ${param('organizationIds')}::uuid[], ${param('userIds')}::uuid[]
        ) with ordinality`.as<'wanted'>(sql`wanted (organization_id, user_id, position)`),
      )
      .innerJoin('organization_members as member', (join) =>
        join
          .onRef('member.organization_id', '=', 'wanted.organization_id')
          .onRef('member.user_id', '=', 'wanted.user_id'),
      )
      .leftJoin('organization_sign_ins as own_sign_in', (join) =>
        join
          .onRef('own_sign_in.organization_id', '=', 'member.organization_id')
          .on('own_sign_in.enforced', '=', true),
      )
      .select(['wanted.position', 'member.organization_id as id', 'member.role', 'member.group_ids'])
      .select('own_sign_in.enforced'),
)

/** Reads what users are in organizations. Concurrent reads share a query. */
export function createMemberships({ db }: { db: Db }): Memberships {
  const load = createBatchLoader(
    async (wanted: readonly { readonly organizationId: string; readonly userId: string }[]) => {
      const rows = await findMemberships(db, {
        organizationIds: wanted.map(({ organizationId }) => organizationId),
        userIds: wanted.map(({ userId }) => userId),
      })
      const found = new Map(rows.map((row) => [row.position, row]))
      return wanted.map((_, index) => found.get(index + 1))
    },
    { maxBatchSize: MAX_MEMBERSHIPS_PER_QUERY },
  )

  return {
    async of(userId, organizationId, session) {
      const row = await load({ organizationId, userId })
      if (!row) throw notFound('Organization')
      // The provider of an organization speaks for this one only. Owners can always come back with that of the platform.
      const isEnough = session?.signIn
        ? session.signIn.organizationId === row.id
        : !row.enforced || row.role === 'owner'
      if (session && !isEnough)
        throw forbidden(
          'sign_in_required',
          `This organization needs another sign-in. Open /auth/sso/${row.id} if it has a provider of its own; otherwise sign in with that of the platform.`,
        )
      return { id: row.id, role: row.role, groupIds: row.group_ids }
    },
  }
}
