import { RobotStatus } from '@wheelhouse/protocol'
import { z } from 'zod'
import { queryCursor } from '../../core/http/cursor.ts'
import { countsBy, line, queryInteger } from '../../core/http/fields.ts'
import { searchWords } from '../../core/http/search-words.ts'

/** Most robot types in the counts of a list. */
export const TYPES_MAX = 20

const robotType = { examples: ['so-101'] }

const RobotSort = z
  .enum([
    '-created_at',
    'created_at',
    'name',
    '-name',
    'total_hours',
    '-total_hours',
    'last_heartbeat',
    '-last_heartbeat',
  ])
  .meta({
    description:
      'The order, with a leading minus descending. Robots without a heartbeat sort as if it were very old.',
    examples: ['name'],
  })
export type RobotSort = z.infer<typeof RobotSort>

const filters = {
  search: searchWords('name, type, hardware id or tags', 'warehouse').optional(),
  status: RobotStatus.optional(),
  robot_type: line(100).meta(robotType).optional(),
}

/** Query of GET /api/client/robots. Rejects a limit over 100: clamping would make paging loops skip rows silently. */
export const ListRobots = z
  .strictObject({
    limit: queryInteger(1, 100).default(50),
    offset: queryInteger(0, 10_000_000).default(0),
    cursor: queryCursor.optional(),
    sort: RobotSort.default('-created_at'),
    ...filters,
  })
  .refine(({ cursor, offset }) => cursor === undefined || offset === 0, {
    path: ['offset'],
    message: 'must be 0 or missing with a cursor',
  })
export type ListRobots = z.output<typeof ListRobots>

/** Query of GET /api/client/robot-counts. */
export const CountRobots = z.strictObject(filters)
export type CountRobots = z.output<typeof CountRobots>

const typeCounts = z
  .array(
    z.object({
      robot_type: z.string().meta(robotType),
      count: z
        .number()
        .int()
        .meta({ examples: [12] }),
    }),
  )
  .max(TYPES_MAX)

/** Response of GET /api/client/robot-counts. */
export const RobotCounts = z
  .object({
    by_status: countsBy(RobotStatus.options).meta({
      description: 'Robots per status that match the other filters.',
      examples: [{ AVAILABLE: 8, IN_SESSION: 2, OFFLINE: 3 }],
    }),
    by_type: typeCounts.meta({
      description: `Robots of the ${TYPES_MAX} most frequent types that match the other filters.`,
    }),
  })
  .meta({ id: 'RobotCounts', description: "The number of an owner's robots for each value of a filter." })
export type RobotCounts = z.infer<typeof RobotCounts>

/** Most available robots in one response, as many as it has by default. */
const AVAILABLE_MAX = 200

const AvailableSort = z
  .enum(['-created_at', 'created_at', 'name', '-name'])
  .meta({ description: 'The order, with a leading minus descending.', examples: ['name'] })

const availableFilters = {
  search: searchWords('name, type or tags', 'warehouse').optional(),
  robot_type: line(100).meta(robotType).optional(),
}

/** Query of GET /api/operator/available-robots. */
export const ListAvailableRobots = z.strictObject({
  limit: queryInteger(1, AVAILABLE_MAX).default(AVAILABLE_MAX),
  cursor: queryCursor.optional(),
  sort: AvailableSort.default('-created_at'),
  ...availableFilters,
})
export type ListAvailableRobots = z.output<typeof ListAvailableRobots>

/** Query of GET /api/operator/available-robot-counts. */
export const CountAvailableRobots = z.strictObject({ search: availableFilters.search })

/** Most available robots that are counted. */
export const AVAILABLE_COUNT_MAX = 10_000

/** Response of GET /api/operator/available-robot-counts. */
export const AvailableRobotCounts = z
  .object({
    total: z
      .number()
      .int()
      .max(AVAILABLE_COUNT_MAX)
      .meta({ description: `${AVAILABLE_COUNT_MAX}: this many or more.`, examples: [12] }),
    by_type: typeCounts.meta({ description: `Robots of the ${TYPES_MAX} most frequent types.` }),
  })
  .meta({ id: 'AvailableRobotCounts', description: 'The number of available robots for each type.' })
export type AvailableRobotCounts = z.infer<typeof AvailableRobotCounts>
