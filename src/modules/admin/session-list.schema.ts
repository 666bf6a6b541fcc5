import { idOf, SessionStatus } from '@wheelhouse/protocol'
import { z } from 'zod'
import { queryCursor } from '../../core/http/cursor.ts'
import { queryInteger, timestamp } from '../../core/http/fields.ts'
import { searchWords } from '../../core/http/search-words.ts'

/** Query of GET /api/admin/sessions. */
export const ListAllSessions = z.strictObject({
  search: searchWords(
    'the name or e-mail of the operator or the owner; or the beginning of the name of the robot; or an id of any of them',
    'grace',
  ).optional(),
  status: SessionStatus.optional(),
  limit: queryInteger(1, 100).default(50),
  cursor: queryCursor.optional(),
})
export type ListAllSessions = z.output<typeof ListAllSessions>

const time = timestamp.nullable()

/** A session in the list for admins. */
export const SessionEntry = z
  .object({
    id: idOf('session'),
    status: SessionStatus,
    robot_id: idOf('robot'),
    robot_name: z.string().meta({ examples: ['Warehouse arm'] }),
    operator_id: idOf('operator'),
    operator_name: z.string().meta({ examples: ['Grace'] }),
    client_id: idOf('client'),
    client_name: z.string().meta({ examples: ['Ada'] }),
    created_at: timestamp,
    scheduled_for: time.meta({ examples: [null] }),
    started_at: time,
    ended_at: time.meta({ examples: [null] }),
    pause_reason: z
      .string()
      .nullable()
      .meta({ description: 'Null unless it is PAUSED.', examples: [null] }),
    stopped: z.boolean().meta({ description: 'Whether a remote stop is latched.' }),
  })
  .meta({ id: 'SessionEntry', description: 'A session with its robot and its users, for admins.' })
export type SessionEntry = z.infer<typeof SessionEntry>
