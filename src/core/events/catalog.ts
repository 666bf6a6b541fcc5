import {
  NotificationEvent,
  NotificationReadEvent,
  RobotBatteryLowEvent,
  RobotLogEvent,
  RobotOperators,
  RobotStatusEvent,
  SessionLogEvent,
} from '@wheelhouse/protocol'
import { z } from 'zod'

/** A robot's new status, with the columns that decide who may receive it. */
const RobotStatusDomainEvent = RobotStatusEvent.extend({
  owner_id: z.uuid(),
  robot_type: z.string(),
  /** Missing in events of older processes. */
  require_certification: z.boolean().optional(),
  group_id: z.uuid().nullish(),
  operators: RobotOperators.optional(),
})

const owned = { owner_id: z.uuid() }

/** Domain events by name, as the outbox stores them. */
export const catalog = {
  'session.event': SessionLogEvent,
  notification: z.object({ user_id: z.uuid(), notification: NotificationEvent }),
  /** For a user who receives no live notifications. */
  'notification.quiet': z.object({ user_id: z.uuid(), notification: NotificationEvent }),
  'notification.read': z.object({ user_id: z.uuid(), read: NotificationReadEvent }),
  /** Many robots in one event: ten thousand robots that disconnect together need a handful of rows. */
  'robots.status': z.object({ robots: z.array(RobotStatusDomainEvent) }),
  /** Log lines and low batteries of robots, only for the programs of their owners. */
  'robots.log': z.object({ robots: z.array(RobotLogEvent.extend(owned)) }),
  'robots.battery_low': z.object({ robots: z.array(RobotBatteryLowEvent.extend(owned)) }),
} as const
/** Events for event streams and webhooks. The outbox relay forwards them after the hub has published them. */
export const externallyPublished = [
  'session.event',
  'notification',
  'notification.quiet',
  'robots.status',
  'robots.log',
  'robots.battery_low',
] as const
export type EventName = keyof typeof catalog
export type EventPayload<N extends EventName> = z.infer<(typeof catalog)[N]>
