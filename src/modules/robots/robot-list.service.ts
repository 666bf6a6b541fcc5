import { sql } from 'kysely'
import { columnsOf } from '../../core/database/columns.ts'
import { compiled } from '../../core/database/compiled.ts'
import type { Db } from '../../core/database/tables.ts'
import { encodeCursor, pageOf } from '../../core/http/cursor.ts'
import type { Scope } from '../../core/permissions/authorization.ts'
import { Robot } from './robot.entity.ts'
import { type DetailColumn, isDetailColumn, type RobotRow } from './robot.view.ts'
import { countRobots } from './robot-counts.service.ts'
import { applyFilters, newestFirst, sortedPage } from './robot-filters.ts'
import type { CountRobots, ListRobots } from './robot-list.schema.ts'

type ListedColumn = Exclude<ReturnType<typeof columnsOf<typeof Robot>>[number], DetailColumn>

/** The columns of a robot without those that may be large and that no list shows. */
const listedColumns = columnsOf(Robot).filter((column): column is ListedColumn => !isDetailColumn(column))

/** Selects robots with the columns that lists show. */
export const robotsWithPresence = (db: Db) =>
  db
    .selectFrom('robots')
    .innerJoin('robot_presence', 'robot_presence.robot_id', 'robots.id')
    .select(listedColumns.map((column) => `robots.${column}` as const))
    .select(['robot_presence.last_online', 'robot_presence.last_heartbeat'])
    .where('robots.deleted_at', 'is', null)

/** Reads an unfiltered page, newest first, from the index of the owner. */
const newestPageQuery = compiled<{ organizationId: string; limit: number; offset: number }>()((db, param) =>
  newestFirst(robotsWithPresence(db).where('robots.owner_id', '=', param('organizationId')))
    .limit(param('limit'))
    .offset(param('offset')),
)

const NEWEST_FIRST = '-created_at'

const isFiltered = (filters: CountRobots) => Object.values(filters).some((filter) => filter !== undefined)

interface RobotPage {
  readonly rows: RobotRow[]
  /** The number of matches on all pages. */
  readonly total: number
  /** The cursor of the next page; undefined on the last one. */
  readonly next: string | undefined
}

/** Reads owners' lists of robots, page by page, and their counts. */
export function createRobotLists({ db }: { db: Db }) {
  /** Counts the robots that match. Without a filter the count is kept, so that it takes no longer for a large fleet. */
  async function countMatches(scope: Scope, { limit, offset, cursor, sort, ...filters }: ListRobots) {
    const counted = isFiltered(filters)
      ? applyFilters(db.selectFrom('robots').where('deleted_at', 'is', null), scope, filters).select(
          ({ fn }) => fn.countAll<string>().as('total'),
        )
      : db
          .selectFrom('robot_counts')
          .select(({ fn }) => fn.sum<string | null>('robots').as('total'))
          .where(sql<boolean>`id = any(${scope.groupIds ?? [scope.organizationId]}::uuid[])`)
    return Number((await counted.executeTakeFirstOrThrow()).total ?? 0)
  }

  /** Reads a page and one robot more, with the value that they are sorted by. */
  async function readPage(scope: Scope, query: ListRobots) {
    const { limit, offset, cursor, sort, ...filters } = query
    if (!isFiltered(filters) && scope.groupIds === null && cursor === undefined && sort === NEWEST_FIRST) {
      const { organizationId } = scope
      const rows = await newestPageQuery(db, { organizationId, limit: limit + 1, offset })
      return rows.map((row) => ({ ...row, sort_key: row.created_at }))
    }
    return await sortedPage(applyFilters(robotsWithPresence(db), scope, filters), { sort, cursor })
      .limit(limit + 1)
      .offset(offset)
      .execute()
  }

  return {
    /** @throws 400 for a cursor of another list or order. */
    async page(scope: Scope, query: ListRobots): Promise<RobotPage> {
      const { limit, sort } = query
      const [rows, total] = await Promise.all([readPage(scope, query), countMatches(scope, query)])
      const { page, last } = pageOf(rows, limit)
      return {
        rows: page,
        total,
        next: last && encodeCursor(sort, last.sort_key, last.id),
      }
    },

    /** Returns the newest robots of an owner that contain all words of a search. */
    find: (scope: Scope, search: string, limit: number) =>
      newestFirst(applyFilters(db.selectFrom('robots').where('deleted_at', 'is', null), scope, { search }))
        .select(['robots.id', 'robots.name', 'robots.robot_type'])
        .limit(limit)
        .execute(),

    counts: (scope: Scope, filters: CountRobots) => countRobots(db, scope, filters),
  }
}
export type RobotLists = ReturnType<typeof createRobotLists>
