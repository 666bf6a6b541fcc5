import { exampleIds, idOf, RobotStatus, SessionStatus } from '@wheelhouse/protocol'
import { z } from 'zod'
import { timestamp } from '../../core/http/fields.ts'
import { CertificationView } from '../operators/index.ts'
import { UserEntry } from './user-list.schema.ts'

/** Response of GET /api/admin/users/{id}. */
export const UserDetail = UserEntry.extend({
  email_verified: z.boolean(),
  removed_roles: z.array(z.string()).meta({
    description: 'Roles that an admin has removed, so that the user cannot add them.',
    examples: [[]],
  }),
  suspension: z
    .object({ at: timestamp, reason: z.string().meta({ examples: ['Unsafe driving'] }) })
    .nullable()
    .meta({ description: 'Null unless the user is suspended.', examples: [null] }),
  api_keys: z
    .number()
    .int()
    .meta({ description: 'Usable API keys.', examples: [1] }),
  certifications: z
    .array(CertificationView)
    .meta({ description: 'The 100 newest certifications and requests.' }),
  open_session: z
    .object({
      id: idOf('session'),
      status: SessionStatus,
      robot_id: idOf('robot'),
      robot_name: z.string().meta({ examples: ['Warehouse arm'] }),
    })
    .nullable()
    .meta({ description: 'The open session that the user operates.', examples: [null] }),
  robots: z.array(z.object({ id: idOf('robot'), name: z.string(), status: RobotStatus })).meta({
    description: 'The 20 newest robots of the user.',
    examples: [[{ id: exampleIds.robot, name: 'Warehouse arm', status: 'AVAILABLE' }]],
  }),
  robot_count: z
    .number()
    .int()
    .meta({ examples: [1] }),
}).meta({
  id: 'UserDetail',
  description: 'A user with roles, certifications, robots and open session, for admins.',
})
export type UserDetail = z.infer<typeof UserDetail>
