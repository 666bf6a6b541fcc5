import { SessionLogEvent } from '@wheelhouse/protocol'
import { catalog } from '../../core/events/catalog.ts'

/** A domain event as stored in `outbound_events`. */
export interface StoredDomainEvent {
  readonly name: string
  readonly payload: unknown
  readonly created_at: Date
}

/** An event for a user, before it is numbered. */
export interface NewUserEvent {
  readonly user_id: string
  readonly type: string
  readonly data: Record<string, unknown>
  readonly created_at: Date
}

/** The client and the operator of each session, by the session's id. */
export type Parties = ReadonlyMap<string, readonly string[]>

const eventsFor = (userIds: readonly string[], type: string, data: Record<string, unknown>) => (at: Date) =>
  userIds.map((user_id): NewUserEvent => ({ user_id, type, data, created_at: at }))

type Converter = (payload: unknown, parties: Parties) => ((at: Date) => NewUserEvent[])[]

/**
 * Convert domain events to user events with the data that the user may see: client and operator get the session's log,
 * owners get the status, log and battery of their robots, users get their notifications.
 */
const converters: Readonly<Record<string, Converter>> = {
  'session.event': (payload, parties) => {
    const event = catalog['session.event'].parse(payload)
    return [eventsFor(parties.get(event.session_id) ?? [], event.type, event)]
  },
  notification: (payload) => notificationEvent(payload),
  'notification.quiet': (payload) => notificationEvent(payload),
  'robots.status': (payload) =>
    catalog['robots.status']
      .parse(payload)
      .robots.map(({ owner_id, robot_id, status, last_heartbeat }) =>
        eventsFor([owner_id], 'robot.status', { robot_id, status, last_heartbeat }),
      ),
  'robots.log': (payload) =>
    catalog['robots.log']
      .parse(payload)
      .robots.map(({ owner_id, ...event }) => eventsFor([owner_id], 'robot.log', event)),
  'robots.battery_low': (payload) =>
    catalog['robots.battery_low']
      .parse(payload)
      .robots.map(({ owner_id, ...event }) => eventsFor([owner_id], 'robot.battery_low', event)),
}

function notificationEvent(payload: unknown) {
  const { user_id, notification } = catalog.notification.parse(payload)
  return [eventsFor([user_id], `notification.${notification.type}`, notification)]
}

/**
 * Returns the user events of a domain event, in order. Ignores names that this version does not know.
 * @throws ZodError if the payload does not match its schema
 */
export function eventsOf({ name, payload, created_at }: StoredDomainEvent, parties: Parties): NewUserEvent[] {
  const convert = Object.hasOwn(converters, name) ? converters[name] : undefined
  return convert?.(payload, parties).flatMap((events) => events(created_at)) ?? []
}

/** Returns the session of a domain event, if any. */
export function sessionOf({ name, payload }: StoredDomainEvent): string | undefined {
  if (name !== 'session.event') return undefined
  return SessionLogEvent.safeParse(payload).data?.session_id
}
