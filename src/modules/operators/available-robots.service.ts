import { sql } from 'kysely'
import type { z } from 'zod'
import { iso } from '../../core/database/iso.ts'
import type { Db } from '../../core/database/tables.ts'
import { encodeCursor, pageOf } from '../../core/http/cursor.ts'
import {
  AVAILABLE_COUNT_MAX,
  type AvailableRobot,
  type AvailableRobotCounts,
  applyOperatorFilters,
  countsByType,
  type ListAvailableRobots,
  newestFirst,
  ownedByClient,
  sortedPage,
} from '../robots/index.ts'

/** Among how many available robots, the newest ones, the best are chosen. */
const BEST_OF = 200

interface AvailableRobotPage {
  readonly robots: z.infer<typeof AvailableRobot>[]
  /** The cursor of the next page; undefined on the last one. */
  readonly next: string | undefined
}

/** Reads the robots that operators can start a session on now, by the conditions of `claimRobot`. */
export function createAvailableRobots({ db }: { db: Db }) {
  const available = (operatorId: string) =>
    db
      .selectFrom('robots')
      .where('robots.status', '=', 'AVAILABLE')
      .where('robots.deleted_at', 'is', null)
      .where('robots.on_hold', '=', false)
      .where(ownedByClient)
      .where((eb) =>
        eb.or([
          eb('robots.require_certification', '=', false),
          eb(
            'robots.robot_type',
            'in',
            eb
              .selectFrom('certifications')
              .select('certifications.robot_type')
              .where('certifications.operator_id', '=', operatorId)
              .where('certifications.status', '=', 'APPROVED'),
          ),
        ]),
      )

  return {
    /** @throws 400 for a cursor of another list or order. */
    async page(operatorId: string, query: ListAvailableRobots): Promise<AvailableRobotPage> {
      const { limit, sort } = query
      const robots = available(operatorId)
        .innerJoin('robot_presence', 'robot_presence.robot_id', 'robots.id')
        .select(['robots.id', 'robots.name', 'robots.robot_type', 'robots.status', 'robots.tags'])
        .select('robot_presence.last_heartbeat')
      const rows = await sortedPage(applyOperatorFilters(robots, query), query)
        .limit(limit + 1)
        .execute()
      const { page, last } = pageOf(rows, limit)
      return {
        robots: page.map(({ sort_key: _, ...row }) => ({ ...row, last_heartbeat: iso(row.last_heartbeat) })),
        next: last && encodeCursor(sort, last.sort_key, last.id),
      }
    },

    /** Returns robots that an operator can start a session on now: those with most sessions of this operator, then the fullest batteries. */
    async best(operatorId: string, limit: number) {
      const rows = await available(operatorId)
        .innerJoin('robot_presence', 'robot_presence.robot_id', 'robots.id')
        .select(['robots.id', 'robots.name', 'robots.robot_type', 'robots.tags', 'robot_presence.battery'])
        .select((eb) =>
          eb
            .selectFrom('sessions')
            .select(({ fn }) => fn.countAll<string>().as('count'))
            .whereRef('sessions.robot_id', '=', 'robots.id')
            .where('sessions.operator_id', '=', operatorId)
            .where('sessions.status', '=', 'COMPLETED')
            .as('own_sessions'),
        )
        // The newest ones, so that an operator of a large fleet reads a bounded number.
        .where('robots.id', 'in', newestFirst(available(operatorId)).select('robots.id').limit(BEST_OF))
        .orderBy('own_sessions', 'desc')
        .orderBy(sql`robot_presence.battery desc nulls last`)
        .orderBy('robots.id')
        .limit(limit)
        .execute()
      return rows.map((row) => ({ ...row, own_sessions: Number(row.own_sessions) }))
    },

    /** Returns the newest robots that an operator can start a session on now and that contain all words of a search. */
    find: (operatorId: string, search: string, limit: number) =>
      newestFirst(applyOperatorFilters(available(operatorId), { search }))
        .select(['robots.id', 'robots.name', 'robots.robot_type'])
        .limit(limit)
        .execute(),

    /** Counts the available robots of each type, up to `AVAILABLE_COUNT_MAX` robots. */
    async counts(operatorId: string, search: string | undefined): Promise<AvailableRobotCounts> {
      const counted = applyOperatorFilters(available(operatorId), { search })
        .select('robots.robot_type')
        .limit(AVAILABLE_COUNT_MAX)
      const groups = await db
        .selectFrom(counted.as('counted'))
        .select(['robot_type', sql<number>`count(*)::int`.as('count')])
        .groupBy('robot_type')
        .execute()
      return {
        total: groups.reduce((sum, { count }) => sum + count, 0),
        by_type: countsByType(groups),
      }
    },
  }
}
export type AvailableRobots = ReturnType<typeof createAvailableRobots>
