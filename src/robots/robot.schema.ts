import { RobotStatus } from '@wheelhouse/protocol'
import { z } from 'zod'
import { line, prose, timestamp } from '../http/fields.ts'

const streamUrl = z.union([z.literal(''), z.url({ protocol: /^(https?|rtsps?|wss?)$/ }).max(2_000)])
const tags = z.array(line(50)).max(20)

const settings = {
  name: line(100),
  stream_url: streamUrl,
  tags,
  notes: prose(4_000).nullable(),
  require_certification: z.boolean(),
  latency_limit_ms: z.number().int().min(50).max(10_000),
}

/** Body of POST /api/client/robots. */
export const RegisterRobot = z.strictObject({
  name: settings.name,
  robot_type: line(100),
  hardware_id: line(200),
  stream_url: streamUrl.default(''),
  tags: tags.default([]),
  notes: settings.notes.default(null),
  require_certification: z.boolean().default(false),
})
export type RegisterRobot = z.infer<typeof RegisterRobot>

/** Body of PATCH /api/client/robots/{id}. What a robot is (type, hardware) does not change. */
export const UpdateRobot = z
  .strictObject(settings)
  .partial()
  .refine((change) => Object.keys(change).length > 0, 'Name at least one field to change')
export type UpdateRobot = z.infer<typeof UpdateRobot>

/** The Robot of the specification, exactly. */
export const RobotView = z.object({
  id: z.uuid(),
  name: z.string(),
  robot_type: z.string(),
  status: RobotStatus,
  control_url: z.string(),
  stream_url: z.string(),
  hardware_id: z.string(),
  last_online: timestamp.nullable(),
  last_heartbeat: timestamp.nullable(),
  total_hours: z.number(),
  tags: z.array(z.string()),
  notes: z.string().nullable(),
  created_at: timestamp,
})
export type RobotView = z.infer<typeof RobotView>

/** One robot read alone: also its settings. */
export const RobotDetail = RobotView.extend({
  require_certification: z.boolean(),
  latency_limit_ms: z.number().int(),
})
export type RobotDetail = z.infer<typeof RobotDetail>

/** The answer to a registration; the token is shown this once. */
export const RegisteredRobot = RobotDetail.extend({ robot_token: z.string() })

/** A robot as an operator may see it: nothing of how to reach or recognise its hardware. */
export const AvailableRobot = z.object({
  id: z.uuid(),
  name: z.string(),
  robot_type: z.string(),
  status: RobotStatus,
  tags: z.array(z.string()),
  last_heartbeat: timestamp.nullable(),
})
