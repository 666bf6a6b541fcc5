import { idOf } from '@wheelhouse/protocol'
import { z } from 'zod'
import { email } from '../../core/http/email-address.ts'
import { line, prose, timestamp } from '../../core/http/fields.ts'

const examples = {
  email: { examples: ['ada@example.com'] },
  robot_type: { examples: ['unitree-go2'] },
  name: { examples: ['Ada'] },
  details: { examples: ['Four of them patrol our yard at night; the SDK speaks DDS.'] },
}

/** Body of POST /api/robot-request. */
export const RequestRobot = z.strictObject({
  email: email.meta(examples.email),
  robot_type: line(100).meta(examples.robot_type),
  name: line(100).meta(examples.name).optional(),
  details: prose(5_000).meta(examples.details).optional(),
})
export type RequestRobot = z.infer<typeof RequestRobot>

export const RobotRequestReceipt = z
  .object({
    success: z.boolean(),
    message: z.string().meta({ examples: ['Thank you. Your request has been recorded.'] }),
    id: idOf('robotRequest'),
  })
  .meta({ id: 'RobotRequestReceipt', description: 'Receipt of a robot request.' })

/** A robot request, as admins see it. */
export const RobotRequestView = z
  .object({
    id: idOf('robotRequest'),
    email: z.string().meta(examples.email),
    robot_type: z.string().meta(examples.robot_type),
    name: z.string().nullable().meta(examples.name),
    details: z.string().nullable().meta(examples.details),
    created_at: timestamp,
  })
  .meta({ id: 'RobotRequest', description: 'A request for a robot type that is not supported yet.' })
