import { z } from 'zod'

/** Severities of a log line, lowest first. */
export const RobotLogLevel = z
  .enum(['debug', 'info', 'warn', 'error'])
  .meta({ id: 'RobotLogLevel', description: 'Severity of a log line.', examples: ['warn'] })
export type RobotLogLevel = z.infer<typeof RobotLogLevel>
/** Longest message of a log line, in characters. The gateway cuts off the rest. */
export const LOG_MESSAGE_MAX = 4_000
