import { sql } from 'kysely'
import type { z } from 'zod'
import { iso } from '../../core/database/iso.ts'
import type { Db } from '../../core/database/tables.ts'
import { encodeCursor, pageOf } from '../../core/http/cursor.ts'
import type { Caller } from '../../core/http/endpoint.ts'
import { ownedBy, scopeOf } from '../../core/permissions/authorization.ts'
import { planTerms } from '../billing/index.ts'
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

/** Who lists robots: an operator of the marketplace, or a member who acts for a team and drives its robots at no charge. */
export type Operator = Pick<Caller, 'userId' | 'organization' | 'credential'>
export const isForTeam = ({ userId, organization }: Operator): boolean => organization.id !== userId

/** Among how many available robots, the newest ones, the best are chosen. */
const BEST_OF = 200

interface AvailableRobotPage {
  readonly robots: z.infer<typeof AvailableRobot>[]
  /** The cursor of the next page; undefined on the last one. */
  readonly next: string | undefined
}

/** Reads the robots that operators can start a session on, now or after another one, by the conditions of `claimRobot`. */
export function createAvailableRobots({ db }: { db: Db }) {
  /** The robots that a person may drive for others. A person drives the own robots in the marketplace, unless they are not in it. */
  const inMarketplace = (operatorId: string) => sql<boolean>`(
    (robots.operators <> 'own' or robots.owner_id = ${operatorId})
    and (not robots.require_certification or robots.robot_type in (
      select certifications.robot_type from certifications
      where certifications.operator_id = ${operatorId} and certifications.status = 'APPROVED')))`

  const available = (caller: Operator, status: ListAvailableRobots['status'] = 'AVAILABLE') =>
    db
      .selectFrom('robots')
      .where('robots.status', '=', status)
      .where('robots.deleted_at', 'is', null)
      .where('robots.on_hold', '=', false)
      .where(ownedByClient)
      .where(
        isForTeam(caller)
          ? sql<boolean>`(${ownedBy(scopeOf(caller))} and robots.operators <> 'marketplace')`
          : inMarketplace(caller.userId),
      )

  return {
    /** @throws 400 for a cursor of another list or order. */
    async page(caller: Operator, query: ListAvailableRobots): Promise<AvailableRobotPage> {
      const { limit, sort, status } = query
      const { client_rate_cents_per_minute, operator_share_percent } = planTerms(sql.ref('robots.owner_id'))
      const robots = available(caller, status).innerJoin(
        'robot_presence',
        'robot_presence.robot_id',
        'robots.id',
      )
      const rows = await sortedPage(applyOperatorFilters(robots, query), query)
        .innerJoin('organizations as owner', 'owner.id', 'robots.owner_id')
        .leftJoin('gateway_nodes as node', (join) =>
          join
            .onRef('node.id', '=', 'robot_presence.node_id')
            .on('robot_presence.connected', '=', true)
            .on('node.draining', '=', false),
        )
        .leftJoin('sessions as open', (join) =>
          join.onRef('open.robot_id', '=', 'robots.id').on('open.status', 'in', ['ACTIVE', 'PAUSED']),
        )
        // Restricts the busy robots by the index of open sessions: the index of robots covers the available ones only.
        .$if(status === 'IN_SESSION', (busy) => busy.where('open.id', 'is not', null))
        .select(['robots.id', 'robots.name', 'robots.robot_type', 'robots.status', 'robots.tags'])
        .select(['robot_presence.last_heartbeat', 'robot_presence.battery', 'node.url as gateway_url'])
        .select(['owner.name as owner_name', 'open.started_at as busy_since'])
        .select(
          sql<Date | null>`least(open.scheduled_for, open.started_at) + make_interval(mins => open.planned_minutes)`.as(
            'free_at',
          ),
        )
        .select(
          sql<number>`${isForTeam(caller) ? sql`0` : client_rate_cents_per_minute} * ${operator_share_percent} / 100.0::float8`.as(
            'earnings_cents_per_minute',
          ),
        )
        .limit(limit + 1)
        .execute()
      const { page, last } = pageOf(rows, limit)
      return {
        robots: page.map(({ sort_key: _, ...row }) => ({
          ...row,
          last_heartbeat: iso(row.last_heartbeat),
          busy_since: iso(row.busy_since),
          free_at: iso(row.free_at),
        })),
        next: last && encodeCursor(sort, last.sort_key, last.id),
      }
    },

    /** Returns robots that an operator can start a session on now: those with most sessions of this operator, then the fullest batteries. */
    async best(caller: Operator, limit: number) {
      const rows = await available(caller)
        .innerJoin('robot_presence', 'robot_presence.robot_id', 'robots.id')
        .select(['robots.id', 'robots.name', 'robots.robot_type', 'robots.tags', 'robot_presence.battery'])
        .select((eb) =>
          eb
            .selectFrom('sessions')
            .select(({ fn }) => fn.countAll<string>().as('count'))
            .whereRef('sessions.robot_id', '=', 'robots.id')
            .where('sessions.operator_id', '=', caller.userId)
            .where('sessions.status', '=', 'COMPLETED')
            .as('own_sessions'),
        )
        // The newest ones, so that an operator of a large fleet reads a bounded number.
        .where('robots.id', 'in', newestFirst(available(caller)).select('robots.id').limit(BEST_OF))
        .orderBy('own_sessions', 'desc')
        .orderBy(sql`robot_presence.battery desc nulls last`)
        .orderBy('robots.id')
        .limit(limit)
        .execute()
      return rows.map((row) => ({ ...row, own_sessions: Number(row.own_sessions) }))
    },

    /** Returns the newest robots that an operator can start a session on now and that contain all words of a search. */
    find: (caller: Operator, search: string, limit: number) =>
      newestFirst(applyOperatorFilters(available(caller), { search }))
        .select(['robots.id', 'robots.name', 'robots.robot_type'])
        .limit(limit)
        .execute(),

    /** Counts the available robots of each type, up to `AVAILABLE_COUNT_MAX` robots. */
    async counts(caller: Operator, search: string | undefined): Promise<AvailableRobotCounts> {
      const counted = applyOperatorFilters(available(caller), { search })
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
