import { z } from 'zod'
import { line, prose, timestamp } from '../http/fields.ts'

/** Body of POST /api/robot-request. */
export const RequestRobot = z.strictObject({
  email: z.email().max(254),
  robot_type: line(100),
  name: line(100).optional(),
  details: prose(5_000).optional(),
})
export type RequestRobot = z.infer<typeof RequestRobot>

export const RobotRequestReceipt = z.object({ success: z.boolean(), message: z.string(), id: z.uuid() })

/** What an admin sees of a request. */
export const RobotRequestView = z.object({
  id: z.uuid(),
  email: z.string(),
  robot_type: z.string(),
  name: z.string().nullable(),
  details: z.string().nullable(),
  created_at: timestamp,
})
