import { RobotLogLevel } from '@wheelhouse/protocol'
import { z } from 'zod'
import { queryInteger, timestamp } from '../../core/http/fields.ts'

/** Lowest level at which log lines of a robot raise an event for its owner. */
export const LogEventLevel = z.enum(['off', 'warn', 'error']).meta({
  description: "Lowest level at which lines of the robot's log raise a `robot.log` event; off: never.",
  examples: ['error'],
})
export type LogEventLevel = z.infer<typeof LogEventLevel>

const seq = z.number().int().min(1)
const cursor = queryInteger(0, 9_999_999_999)

/** Maximum number of lines in a page. */
const LOG_PAGE_LIMIT = 200

/** Query of GET /api/client/robots/{id}/logs. */
export const RobotLogQuery = z.strictObject({
  level: RobotLogLevel.default('debug').meta({ description: 'Only lines of this level or above.' }),
  before: cursor.optional().meta({ description: 'Only lines with a lower seq.' }),
  after: cursor.optional().meta({
    description: 'Only lines with a higher seq. The page is then ordered oldest first.',
  }),
  limit: queryInteger(1, LOG_PAGE_LIMIT).default(50),
})
export type RobotLogQuery = z.output<typeof RobotLogQuery>

/** One line of a robot's log. */
export const RobotLogView = z
  .object({
    seq: seq.meta({
      description: "Position in the robot's log. It starts at 1 and has no gaps.",
      examples: [118],
    }),
    level: RobotLogLevel,
    message: z.string().meta({ examples: ['Wheel 2 slips'] }),
    dropped: z
      .number()
      .int()
      .meta({
        description:
          'Number of lines that are missing here. Above 0, the platform wrote this line in their place: the robot ' +
          'logged faster than the platform records, or the database was unreachable for too long.',
        examples: [0],
      }),
    at: timestamp.meta({ description: 'When the gateway received the line.' }),
  })
  .meta({ id: 'RobotLogLine', description: "One line of a robot's log." })
export type RobotLogView = z.infer<typeof RobotLogView>

export const RobotLogPage = z.object({ logs: z.array(RobotLogView) })
