import { idOf, Role } from '@wheelhouse/protocol'
import { z } from 'zod'
import { queryCursor } from '../../core/http/cursor.ts'
import { queryInteger, timestamp } from '../../core/http/fields.ts'
import { searchWords } from '../../core/http/search-words.ts'

/** Query of GET /api/admin/users. */
export const ListUsers = z.strictObject({
  search: searchWords('the name or the e-mail; or the id of the user', 'grace').optional(),
  role: Role.optional(),
  suspended: z
    .enum(['true', 'false'])
    .meta({ description: 'Only suspended users, or only others.' })
    .optional(),
  limit: queryInteger(1, 100).default(50),
  cursor: queryCursor.optional(),
})
export type ListUsers = z.output<typeof ListUsers>

/** A user in the list for admins. */
export const UserEntry = z
  .object({
    id: idOf('operator'),
    display_name: z.string().meta({ examples: ['Grace'] }),
    email: z
      .string()
      .nullable()
      .meta({ examples: ['grace@example.com'] }),
    roles: z.array(Role).meta({ description: 'Also while the user is suspended.', examples: [['operator']] }),
    suspended_at: timestamp.nullable().meta({ examples: [null] }),
    last_seen_at: timestamp
      .nullable()
      .meta({ description: 'When the user was last connected to the hub; null if never.' }),
    created_at: timestamp,
    service_of: idOf('organization')
      .optional()
      .meta({ description: 'Of a service account: the organization whose program it is.' }),
  })
  .meta({ id: 'UserEntry', description: 'A user with roles, for admins.' })
export type UserEntry = z.infer<typeof UserEntry>
