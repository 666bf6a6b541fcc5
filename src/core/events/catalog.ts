import {
  NotificationEvent,
  NotificationReadEvent,
  RobotBatteryLowEvent,
  RobotLogEvent,
  RobotStatusEvent,
  SessionLogEvent,
} from '@wheelhouse/protocol'
import { z } from 'zod'

/** A robot's new status with what the hub needs to know whom to tell. */
const RobotStatusDomainEvent = RobotStatusEvent.extend({
  owner_id: z.uuid(),
  robot_type: z.string(),
  /** Facts of older processes do not say. */
  require_certification: z.boolean().optional(),
})

const owned = { owner_id: z.uuid() }

/** Durable facts by name, as they stand in the outbox. */
export const catalog = {
  'session.event': SessionLogEvent,
  notification: z.object({ user_id: z.uuid(), notification: NotificationEvent }),
  /** Of somebody who is not to be told live. */
  'notification.quiet': z.object({ user_id: z.uuid(), notification: NotificationEvent }),
  'notification.read': z.object({ user_id: z.uuid(), read: NotificationReadEvent }),
  /** Many robots in one fact: ten thousand robots that drop together make a handful of rows. */
  'robots.status': z.object({ robots: z.array(RobotStatusDomainEvent) }),
  /** What robots have logged, and whose battery is low: for programs of their owners only. */
  'robots.log': z.object({ robots: z.array(RobotLogEvent.extend(owned)) }),
  'robots.battery_low': z.object({ robots: z.array(RobotBatteryLowEvent.extend(owned)) }),
} as const
/** Those that are events for programs of others too: they are handed on once they have been told live. */
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
