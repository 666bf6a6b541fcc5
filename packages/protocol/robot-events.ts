import { z } from 'zod'
import { idOf } from './examples.ts'
import { RobotLogLevel } from './robot-log.ts'

const timestamp = z.iso.datetime()

/** `data` of the event `robot.log`: lines of the robot's log at or above the level that the owner has set. */
export const RobotLogEvent = z.object({
  robot_id: idOf('robot'),
  robot_name: z.string(),
  /** Level of the most severe line. */
  level: RobotLogLevel,
  /** Message of the first line of that level. */
  message: z.string(),
  /** Number of lines since the last `robot.log` event of this robot. */
  lines: z.number().int().min(1),
  /** When the first of these lines arrived. */
  since: timestamp,
})
export type RobotLogEvent = z.infer<typeof RobotLogEvent>

/** `data` of the event `robot.battery_low`. */
export const RobotBatteryLowEvent = z.object({
  robot_id: idOf('robot'),
  robot_name: z.string(),
  battery: z.number().min(0).max(1),
  battery_at: timestamp,
})
export type RobotBatteryLowEvent = z.infer<typeof RobotBatteryLowEvent>
