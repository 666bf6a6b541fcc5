import { z } from 'zod'
import { idOf } from './examples.ts'
import { NotificationType, SessionEventType } from './hub.ts'

/**
 * All event types that `GET /api/events` and webhooks publish. The type of `data` is `SessionLogEvent` for session
 * events, `RobotStatusEvent` for `robot.status`, `RobotLogEvent` for `robot.log`, `RobotBatteryLowEvent` for
 * `robot.battery_low`, and `NotificationEvent` for notifications.
 */
export const eventTypes: readonly string[] = [
  ...SessionEventType.options,
  'robot.status',
  'robot.log',
  'robot.battery_low',
  ...NotificationType.options.map((type) => `notification.${type}`),
]

/** Event type of a webhook's test delivery. The event stream never contains it. */
export const TEST_EVENT_TYPE = 'webhook.test'

/** Returns whether a filter matches an event type. A filter is `*`, a type, or a family such as `session.*`. */
export const filterTakes = (filter: string, type: string): boolean =>
  filter === type || (filter.endsWith('*') && type.startsWith(filter.slice(0, -1)))

/** Largest number of filters in one request. */
export const MAX_EVENT_FILTERS = 50

export const EventFilter = z
  .string()
  .max(100)
  .refine(
    (filter) =>
      /^(\*|[a-z_.]+\.\*|[a-z_.]+)$/.test(filter) && eventTypes.some((type) => filterTakes(filter, type)),
    'must be *, an event type, or a family such as session.*',
  )
  .meta({ description: '`*`, a type, or a family such as `session.*`.', examples: ['session.*'] })

/** One event, as its user may see it. */
export const PlatformEvent = z
  .object({
    id: idOf('event').meta({ description: 'The same id in the stream and in every webhook delivery.' }),
    seq: z
      .number()
      .int()
      .min(1)
      .meta({ description: 'Counts from 1 without gaps, for each user.', examples: [41] }),
    type: z.string().meta({
      description: `Type of the event; later versions may add types. ${eventTypes.join(', ')}`,
      examples: ['session.started'],
    }),
    created_at: z.iso.datetime().meta({ examples: ['2026-11-20T09:30:00.000Z'] }),
    data: z.record(z.string(), z.unknown()).meta({
      description:
        'A snapshot: the log entry for session events, the hub event robot:status for robot.status, the ' +
        'notification for notifications.',
      examples: [
        {
          session_id: 'c4e71a92-58d0-4f3b-a6e9-1d8b7c205f63',
          seq: 1,
          type: 'session.started',
          data: { status: 'ACTIVE', actor_id: 'd21f6b80-94c3-4e7a-b5d8-0f3a7e62c915' },
          at: '2026-11-20T09:30:00.000Z',
        },
      ],
    }),
  })
  .meta({ id: 'Event', description: 'An event about you, your sessions or your robots.' })
export type PlatformEvent = z.infer<typeof PlatformEvent>
