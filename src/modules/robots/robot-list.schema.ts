import { RobotStatus } from '@wheelhouse/protocol'
import { z } from 'zod'
import { queryCursor } from '../../core/http/cursor.ts'
import { countsBy, line, queryInteger, queryShare } from '../../core/http/fields.ts'
import { searchWords } from '../../core/http/search-words.ts'

/** Most robot types in the counts of a list. */
export const TYPES_MAX = 20

/** Most tags in the counts of a list. */
export const TAGS_MAX = 20
/** The charges that the counts of a list use as thresholds. */
export const BATTERY_STEPS = [0.2, 0.5] as const

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
    description: 'The order, with a leading minus descending. Robots without a heartbeat count as oldest.',
    examples: ['name'],
  })
export type RobotSort = z.infer<typeof RobotSort>

const filters = {
  search: searchWords('name, type, hardware id or tags', 'warehouse').optional(),
  status: RobotStatus.optional(),
  robot_type: line(100).meta(robotType).optional(),
  tag: line(50)
    .meta({ description: 'Only robots with this tag.', examples: ['berlin'] })
    .optional(),
  battery_below: queryShare()
    .meta({
      description: 'Only robots with a charge below this.',
      examples: [0.2],
    })
    .optional(),
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

const rowCount = z
  .number()
  .int()
  .meta({ examples: [12] })

const typeCounts = z
  .array(z.object({ robot_type: z.string().meta(robotType), count: rowCount }))
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
    by_tag: z
      .array(z.object({ tag: z.string().meta({ examples: ['berlin'] }), count: rowCount }))
      .max(TAGS_MAX)
      .meta({ description: `Robots with the ${TAGS_MAX} most frequent tags that match the other filters.` }),
    by_battery: z
      .array(z.object({ battery_below: z.number().meta({ examples: [0.2] }), count: rowCount }))
      .max(BATTERY_STEPS.length)
      .meta({ description: 'Robots with a charge below each threshold that match the other filters.' }),
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
  status: z.enum(['AVAILABLE', 'IN_SESSION']).default('AVAILABLE').meta({
    description: 'IN_SESSION: the robots that you could start a session on if they were not in one.',
  }),
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
