import { sql } from 'kysely'
import { createBatchLoader } from '../../core/database/batch-loader.ts'
import { compiled } from '../../core/database/compiled.ts'
import type { Db } from '../../core/database/tables.ts'
import { notFound } from '../../core/errors/errors.ts'
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
      .select(['wanted.position', 'member.organization_id as id', 'member.role', 'member.group_ids']),
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
    async of(userId, organizationId) {
      const row = await load({ organizationId, userId })
      if (!row) throw notFound('Organization')
      return { id: row.id, role: row.role, groupIds: row.group_ids }
    },
  }
}
