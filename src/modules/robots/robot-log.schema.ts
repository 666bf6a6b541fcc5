import { RobotLogLevel } from '@wheelhouse/protocol'
import { z } from 'zod'
import { queryInteger, timestamp } from '../../core/http/fields.ts'

/** From which level on lines of a robot's log become an event for its owner. */
export const LogEventLevel = z.enum(['off', 'warn', 'error']).meta({
  description: 'From which level on lines of its log become an event: `robot.log`.',
  examples: ['error'],
})
export type LogEventLevel = z.infer<typeof LogEventLevel>

const seq = z.number().int().min(1)
const cursor = queryInteger(0, 9_999_999_999)

/** Most lines that one page holds. */
export const LOG_PAGE_LIMIT = 200

/** Query of GET /api/client/robots/{id}/logs. */
export const RobotLogQuery = z.strictObject({
  level: RobotLogLevel.default('debug').meta({ description: 'Only lines of this level or above.' }),
  before: cursor.optional().meta({ description: 'Only lines older than this seq.' }),
  after: cursor.optional().meta({
    description: 'Only lines newer than this seq; they come oldest first, so that you can go on.',
  }),
  limit: queryInteger(1, LOG_PAGE_LIMIT).default(50),
})
export type RobotLogQuery = z.output<typeof RobotLogQuery>

/** A line of the log of a robot. */
export const RobotLogView = z
  .object({
    seq: seq.meta({ description: 'Counts from 1 without gaps, for each robot.', examples: [118] }),
    level: RobotLogLevel,
    message: z.string().meta({ examples: ['Wheel 2 slips'] }),
    dropped: z
      .number()
      .int()
      .meta({
        description:
          'How many lines are missing here. Above 0 the platform wrote this line in their place: the robot logged ' +
          'faster than the platform records, or the database was away for long.',
        examples: [0],
      }),
    at: timestamp.meta({ description: 'When the gateway received it.' }),
  })
  .meta({ id: 'RobotLogLine', description: 'A line of the log of a robot.' })
export type RobotLogView = z.infer<typeof RobotLogView>

export const RobotLogPage = z.object({ logs: z.array(RobotLogView) })
