import { NotificationEvent } from '@wheelhouse/protocol'
import { z } from 'zod'
import { type Endpoint, endpoint } from '../../core/http/endpoint.ts'
import { queryInteger, timestamp } from '../../core/http/fields.ts'
import { type Notifications, PAGE_LIMIT } from './notification.service.ts'

const NotificationView = NotificationEvent.extend({
  read_at: timestamp.nullable().meta({ description: 'Null while it is unread.', examples: [null] }),
}).meta({ id: 'Notification', description: 'Something you should know.' })
/** Notifications are numbered per user from 1; the number is the id. */
const NotificationId = z
  .string()
  .regex(/^[1-9]\d{0,8}$/, 'must be a notification id')
  .meta({ examples: ['12'] })

const UnreadCount = z
  .number()
  .int()
  .meta({ description: 'How many of all your notifications are unread.', examples: [3] })
const ReadUpTo = z
  .strictObject({ up_to: NotificationId.meta({ description: 'The newest one that is to count as read.' }) })
  .meta({ id: 'ReadNotifications', description: 'Up to where notifications have been read.' })

export function notificationEndpoints(deps: { notifications: Notifications }): Endpoint[] {
  const { notifications } = deps
  return [
    endpoint({
      method: 'get',
      path: '/api/notifications',
      summary: 'Lists your notifications, newest first',
      access: {},
      query: z.strictObject({
        before: NotificationId.meta({ description: 'Notifications older than this one.', examples: ['12'] })
          .transform(Number)
          .optional(),
        unread: z.enum(['true']).meta({ description: 'Only those that are unread.' }).optional(),
        limit: queryInteger(1, PAGE_LIMIT).default(50),
      }),
      response: [200, z.object({ notifications: z.array(NotificationView), unread_count: UnreadCount })],
      run: ({ caller, query: { before, unread, limit } }) =>
        notifications.list(caller.userId, { before, unreadOnly: unread === 'true', limit }),
    }),
    endpoint({
      method: 'post',
      path: '/api/notifications/read',
      summary: 'Marks all your notifications up to one as read',
      access: {},
      body: ReadUpTo,
      response: [200, z.object({ up_to: z.string(), unread_count: UnreadCount })],
      run: ({ caller, body }) => notifications.markReadUpTo(caller.userId, Number(body.up_to)),
    }),
    endpoint({
      method: 'post',
      path: '/api/notifications/{id}/read',
      summary: 'Marks a notification as read',
      access: {},
      params: z.strictObject({ id: NotificationId.transform(Number) }),
      response: [200, NotificationView],
      run: ({ caller, params }) => notifications.markRead(caller.userId, params.id),
    }),
  ]
}
