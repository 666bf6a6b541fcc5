import { randomUUID } from 'node:crypto'
import type { EntityManager, FilterQuery } from '@mikro-orm/postgresql'
import { z } from 'zod'
import type { CoreServices } from '../../core/core-services.ts'
import { camelKeys } from '../../core/database/camel-keys.ts'
import { iso } from '../../core/database/iso.ts'
import type { Transact } from '../../core/events/transactor.ts'
import { type Endpoint, endpoint } from '../../core/http/endpoint.ts'
import { queryInteger } from '../../core/http/fields.ts'
import { ContactMessageView, ContactReceipt, SendContact } from './contact.schema.ts'
import type { Contact } from './contact.service.ts'
import { RequestRobot, RobotRequestReceipt, RobotRequestView } from './robot-request.schema.ts'
import { ContactMessage, RobotRequest } from './support.entity.ts'

const DELIVERED = 'Thank you. Your message has reached us.'
const STORED = 'Thank you. Your message is stored and will be delivered to us shortly.'

/** Returns the route of the contact form. */
export function contactEndpoints({ contact }: { contact: Contact }): Endpoint[] {
  return [
    endpoint({
      method: 'post',
      path: '/api/contact',
      summary: 'Submits a contact form message. It is stored, then delivered by e-mail',
      access: 'public',
      body: SendContact,
      response: [201, ContactReceipt],
      run: async ({ body }) => {
        const { id, delivered } = await contact.submit(body)
        return { success: true, message: delivered ? DELIVERED : STORED, id, stored: true, delivered }
      },
    }),
  ]
}

/** Returns the route that requests a robot type that is not supported yet. */
export function robotRequestEndpoints(deps: { transact: Transact; now: () => Date }): Endpoint[] {
  const { transact, now } = deps
  return [
    endpoint({
      method: 'post',
      path: '/api/robot-request',
      summary: 'Requests support for a robot type that is not on the platform yet',
      access: 'public',
      body: RequestRobot,
      response: [201, RobotRequestReceipt],
      run: async ({ body }) => {
        const id = randomUUID()
        await transact(async (tx) => {
          tx.em.create(RobotRequest, { id, ...camelKeys(body), createdAt: now() })
        })
        return { success: true, message: 'Thank you. Your request has been recorded.', id }
      },
    }),
  ]
}

const Page = z.strictObject({
  before: z
    .uuid()
    .meta({ description: 'Returns only entries older than this one, the last entry of the previous page.' })
    .optional(),
  limit: queryInteger(1, 200).default(50),
})
type Page = z.output<typeof Page>
const ListContact = Page.extend({ delivered: z.enum(['true', 'false']).optional() })

const access = { role: 'admin' } as const
const newestFirst = { createdAt: 'desc', id: 'desc' } as const

/** Returns the routes that show admins what the public has sent: contact messages and robot requests. */
export function inboxEndpoints({ forkEntityManager }: Pick<CoreServices, 'forkEntityManager'>): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/api/admin/contact-messages',
      list: true,
      summary: 'Lists contact messages and the state of their delivery, newest first',
      access,
      query: ListContact,
      response: [200, z.object({ contact_messages: z.array(ContactMessageView) })],
      run: async ({ query }) => {
        const messages = await listMessages(forkEntityManager(), query)
        return { contact_messages: messages.map(messageView) }
      },
    }),
    endpoint({
      method: 'get',
      path: '/api/admin/robot-requests',
      list: true,
      summary: 'Lists requests for robot types that are not supported yet, newest first',
      access,
      query: Page,
      response: [200, z.object({ robot_requests: z.array(RobotRequestView) })],
      run: async ({ query }) => {
        const requests = await listRequests(forkEntityManager(), query)
        return { robot_requests: requests.map(requestView) }
      },
    }),
  ]
}

async function listMessages(em: EntityManager, { before, limit, delivered }: z.output<typeof ListContact>) {
  const last = before === undefined ? undefined : await em.findOne(ContactMessage, { id: before })
  if (last === null) return []
  const filter: FilterQuery<ContactMessage> = delivered
    ? { deliveredAt: delivered === 'true' ? { $ne: null } : null }
    : {}
  const where = last ? { $and: [filter, olderThan(last)] } : filter
  return await em.find(ContactMessage, where, { orderBy: newestFirst, limit })
}

async function listRequests(em: EntityManager, { before, limit }: Page) {
  const last = before === undefined ? undefined : await em.findOne(RobotRequest, { id: before })
  if (last === null) return []
  return await em.find(RobotRequest, last ? olderThan(last) : {}, { orderBy: newestFirst, limit })
}

/** Matches the entries that follow the given one in the order of the lists. */
const olderThan = ({ id, createdAt }: { id: string; createdAt: Date }) => ({
  $or: [{ createdAt: { $lt: createdAt } }, { createdAt, id: { $lt: id } }],
})

const messageView = (message: ContactMessage): z.infer<typeof ContactMessageView> => {
  const deliveredAt = message.deliveredAt ?? null
  return {
    id: message.id,
    name: message.name,
    email: message.email,
    category: message.category,
    subject: message.subject,
    message: message.message,
    created_at: iso(message.createdAt),
    delivered: deliveredAt !== null,
    delivered_at: iso(deliveredAt),
    attempts: message.attempts,
    next_attempt_at: deliveredAt === null ? iso(message.nextAttemptAt) : null,
    last_error: message.lastError ?? null,
  }
}

const requestView = (request: RobotRequest): z.infer<typeof RobotRequestView> => ({
  id: request.id,
  email: request.email,
  robot_type: request.robotType,
  name: request.name ?? null,
  details: request.details ?? null,
  created_at: iso(request.createdAt),
})
