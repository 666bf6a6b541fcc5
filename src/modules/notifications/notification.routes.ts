import { NotificationEvent } from '@wheelhouse/protocol'
import { z } from 'zod'
import { type Endpoint, endpoint } from '../../core/http/endpoint.ts'
import { queryInteger, timestamp } from '../../core/http/fields.ts'
import { type Notifications, PAGE_LIMIT } from './notification.service.ts'
import { pushEndpoints } from './push/push.routes.ts'
import { SettingsChange, SettingsView } from './settings.schema.ts'
import type { NotificationSettingsService } from './settings.service.ts'

const NotificationView = NotificationEvent.extend({
  read_at: timestamp
    .nullable()
    .meta({ description: 'Null while the notification is unread.', examples: [null] }),
}).meta({ id: 'Notification', description: 'An event that concerns you.' })
/** The id is the number of a notification. Numbers start at 1 for each user. */
const NotificationId = z
  .string()
  .regex(/^[1-9]\d{0,8}$/, 'must be a notification id')
  .meta({ examples: ['12'] })

const UnreadCount = z
  .number()
  .int()
  .meta({ description: 'The number of all your unread notifications.', examples: [3] })
const ReadUpTo = z
  .strictObject({ up_to: NotificationId.meta({ description: 'The newest notification to mark as read.' }) })
  .meta({ id: 'ReadNotifications', description: 'The newest notification that you have read.' })

/** Creates the endpoints under /api/notifications. */
export function notificationEndpoints(
  deps: {
    notifications: Notifications
    settings: NotificationSettingsService
  } & Parameters<typeof pushEndpoints>[0],
): Endpoint[] {
  const { notifications } = deps
  return [
    ...settingsEndpoints(deps),
    ...pushEndpoints(deps),
    endpoint({
      method: 'get',
      path: '/api/notifications',
      list: true,
      summary: 'Lists your notifications, newest first',
      access: { person: true },
      query: z.strictObject({
        before: NotificationId.meta({
          description: 'Returns only notifications older than this one.',
          examples: ['12'],
        })
          .transform(Number)
          .optional(),
        unread: z.enum(['true']).meta({ description: 'Returns only unread notifications.' }).optional(),
        limit: queryInteger(1, PAGE_LIMIT).default(50),
      }),
      response: [200, z.object({ notifications: z.array(NotificationView), unread_count: UnreadCount })],
      run: ({ caller, query: { before, unread, limit } }) =>
        notifications.list(caller.userId, { before, unreadOnly: unread === 'true', limit }),
    }),
    endpoint({
      method: 'post',
      path: '/api/notifications/read',
      summary: 'Marks all your notifications up to the given one as read',
      access: { person: true },
      body: ReadUpTo,
      response: [200, z.object({ up_to: z.string(), unread_count: UnreadCount })],
      run: ({ caller, body }) => notifications.markReadUpTo(caller.userId, Number(body.up_to)),
    }),
    endpoint({
      method: 'post',
      path: '/api/notifications/{id}/read',
      summary: 'Marks a notification as read',
      access: { person: true },
      params: z.strictObject({ id: NotificationId.transform(Number) }),
      response: [200, NotificationView],
      run: ({ caller, params }) => notifications.markRead(caller.userId, params.id),
    }),
  ]
}

/** Creates the endpoints of the notification settings. */
function settingsEndpoints({ settings }: { settings: NotificationSettingsService }): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/api/notifications/settings',
      summary: 'Returns your notification settings',
      access: { person: true },
      response: [200, SettingsView],
      run: ({ caller }) => settings.read(caller.userId),
    }),
    endpoint({
      method: 'patch',
      path: '/api/notifications/settings',
      summary: 'Changes your notification settings',
      access: { person: true },
      body: SettingsChange,
      response: [200, SettingsView],
      run: ({ caller, body }) => settings.change(caller.userId, body),
    }),
  ]
}
