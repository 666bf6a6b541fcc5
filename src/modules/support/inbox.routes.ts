import { type Selectable, sql } from 'kysely'
import { z } from 'zod'
import { iso } from '../../core/database/iso.ts'
import type { Db, Tables } from '../../core/database/tables.ts'
import { type Endpoint, endpoint } from '../../core/http/endpoint.ts'
import { queryInteger } from '../../core/http/fields.ts'
import { ContactMessageView } from './contact.schema.ts'
import { RobotRequestView } from './robot-request.schema.ts'

const Page = z.strictObject({
  before: z
    .uuid()
    .meta({ description: 'What is older than this entry, the last one of the page before.' })
    .optional(),
  limit: queryInteger(1, 200).default(50),
})
type Page = z.output<typeof Page>
const ListContact = Page.extend({ delivered: z.enum(['true', 'false']).optional() })

const access = { role: 'admin' } as const

/** What the public has sent: contact messages with the state of their delivery, requests for robots. */
export function inboxEndpoints({ db }: { db: Db }): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/api/admin/contact-messages',
      summary: 'Lists contact messages and how far their delivery has come, newest first',
      access,
      query: ListContact,
      response: [200, z.object({ contact_messages: z.array(ContactMessageView) })],
      run: async ({ query }) => ({ contact_messages: (await messages(db, query)).map(messageView) }),
    }),
    endpoint({
      method: 'get',
      path: '/api/admin/robot-requests',
      summary: 'Lists requests for robot types that are not supported yet, newest first',
      access,
      query: Page,
      response: [200, z.object({ robot_requests: z.array(RobotRequestView) })],
      run: async ({ query }) => ({
        robot_requests: (await requests(db, query)).map((row) => ({
          ...row,
          created_at: iso(row.created_at),
        })),
      }),
    }),
  ]
}

const messages = (db: Db, { before, limit, delivered }: z.output<typeof ListContact>) =>
  db
    .selectFrom('contact_messages')
    .selectAll()
    .$if(before !== undefined, (query) => query.where(olderThan('contact_messages', before as string)))
    .$if(delivered === 'true', (query) => query.where('delivered_at', 'is not', null))
    .$if(delivered === 'false', (query) => query.where('delivered_at', 'is', null))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()

const requests = (db: Db, { before, limit }: Page) =>
  db
    .selectFrom('robot_requests')
    .selectAll()
    .$if(before !== undefined, (query) => query.where(olderThan('robot_requests', before as string)))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()

/** Entries after the given one in the order of the lists; none when it is unknown. */
const olderThan = (table: 'contact_messages' | 'robot_requests', id: string) =>
  sql<boolean>`(created_at, id) < (select created_at, id from ${sql.table(table)} where id = ${id})`

const messageView = (row: Selectable<Tables['contact_messages']>): z.infer<typeof ContactMessageView> => ({
  id: row.id,
  name: row.name,
  email: row.email,
  category: row.category,
  subject: row.subject,
  message: row.message,
  created_at: iso(row.created_at),
  delivered: row.delivered_at !== null,
  delivered_at: iso(row.delivered_at),
  attempts: row.attempts,
  next_attempt_at: row.delivered_at === null ? iso(row.next_attempt_at) : null,
  last_error: row.last_error,
})
