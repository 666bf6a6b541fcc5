import { z } from 'zod'
import { idOf } from './examples.ts'
import { NotificationType, SessionEventType } from './hub.ts'

/**
 * Every kind of event that is told outside, by `GET /api/events` and by webhooks. `data` of a session's is the
 * `SessionLogEvent`, of `robot.status` the `RobotStatusEvent`, of `robot.log` the `RobotLogEvent`, of
 * `robot.battery_low` the `RobotBatteryLowEvent`, of a notification the `NotificationEvent`.
 */
export const eventTypes: readonly string[] = [
  ...SessionEventType.options,
  'robot.status',
  'robot.log',
  'robot.battery_low',
  ...NotificationType.options.map((type) => `notification.${type}`),
]

/** What a test delivery of a webhook carries; it is no event of the stream. */
export const TEST_EVENT_TYPE = 'webhook.test'

/** Whether a filter takes events of a type: `*`, a type, or a family as in `session.*`. */
export const filterTakes = (filter: string, type: string): boolean =>
  filter === type || (filter.endsWith('*') && type.startsWith(filter.slice(0, -1)))

/** Most filters that may be given at once. */
export const MAX_EVENT_FILTERS = 50

export const EventFilter = z
  .string()
  .max(100)
  .refine(
    (filter) =>
      /^(\*|[a-z_.]+\.\*|[a-z_.]+)$/.test(filter) && eventTypes.some((type) => filterTakes(filter, type)),
    'must be *, a type of event, or a family such as session.*',
  )
  .meta({ description: '`*`, a type, or a family such as `session.*`.', examples: ['session.*'] })

/** One thing that happened, as its user may see it. */
export const PlatformEvent = z
  .object({
    id: idOf('event').meta({ description: 'The same in the stream and in every delivery to a webhook.' }),
    seq: z
      .number()
      .int()
      .min(1)
      .meta({ description: 'Counts from 1 without gaps, for each user.', examples: [41] }),
    type: z.string().meta({
      description: `What happened; more kinds may come. ${eventTypes.join(', ')}`,
      examples: ['session.started'],
    }),
    created_at: z.iso.datetime().meta({ examples: ['2026-11-20T09:30:00.000Z'] }),
    data: z.record(z.string(), z.unknown()).meta({
      description:
        'A snapshot. Of a session the entry of its log, of robot.status what the hub sends as robot:status, of a ' +
        'notification the notification.',
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
  .meta({ id: 'Event', description: 'One thing that happened to you, your sessions or your robots.' })
export type PlatformEvent = z.infer<typeof PlatformEvent>
