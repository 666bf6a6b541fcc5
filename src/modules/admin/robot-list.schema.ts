import { idOf, RobotStatus } from '@wheelhouse/protocol'
import { z } from 'zod'
import { queryCursor } from '../../core/http/cursor.ts'
import { line, queryInteger, timestamp } from '../../core/http/fields.ts'
import { searchWords } from '../../core/http/search-words.ts'

/** Query of GET /api/admin/robots. */
export const ListAllRobots = z.strictObject({
  search: searchWords(
    'the name or e-mail of the owner; or the beginning of the name of the robot; or its hardware id; or an id of either',
    'warehouse',
  ).optional(),
  status: RobotStatus.optional(),
  tag: line(50)
    .meta({ description: 'Only robots with this tag.', examples: ['berlin'] })
    .optional(),
  battery_low: z
    .enum(['true', 'false'])
    .meta({
      description: 'Returns only robots with a low battery, as their owners set the limit, or only others.',
    })
    .optional(),
  limit: queryInteger(1, 100).default(50),
  cursor: queryCursor.optional(),
})
export type ListAllRobots = z.output<typeof ListAllRobots>

/** A robot in the list for admins. */
export const RobotEntry = z
  .object({
    id: idOf('robot'),
    name: z.string().meta({ examples: ['Warehouse arm'] }),
    robot_type: z.string().meta({ examples: ['so-101'] }),
    hardware_id: z.string().meta({ examples: ['SO101-000042'] }),
    status: RobotStatus,
    on_hold: z.boolean().meta({ description: 'Whether no session can start until its owner releases it.' }),
    owner_id: idOf('client'),
    owner_name: z.string().meta({ examples: ['Ada'] }),
    tags: z.array(z.string()).meta({ examples: [['arm', 'berlin']] }),
    battery: z
      .number()
      .nullable()
      .meta({ description: 'Last reported charge, 0 to 1.', examples: [0.62] }),
    last_heartbeat: timestamp.nullable(),
    session_id: idOf('session')
      .nullable()
      .meta({ description: 'Its open session.', examples: [null] }),
    created_at: timestamp,
  })
  .meta({ id: 'RobotEntry', description: 'A robot with its owner and its open session, for admins.' })
export type RobotEntry = z.infer<typeof RobotEntry>
