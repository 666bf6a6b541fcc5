import { SessionLogEvent } from '@wheelhouse/protocol'
import { catalog } from '../../core/events/catalog.ts'

/** A fact as it lies in `outbound_events`. */
export interface StoredDomainEvent {
  readonly name: string
  readonly payload: unknown
  readonly created_at: Date
}

/** An event for one user, before it has its number. */
export interface NewUserEvent {
  readonly user_id: string
  readonly type: string
  readonly data: Record<string, unknown>
  readonly created_at: Date
}

/** The two sides of a session, by its id. */
export type Parties = ReadonlyMap<string, readonly string[]>

const eventsFor = (userIds: readonly string[], type: string, data: Record<string, unknown>) => (at: Date) =>
  userIds.map((user_id): NewUserEvent => ({ user_id, type, data, created_at: at }))

type Converter = (payload: unknown, parties: Parties) => ((at: Date) => NewUserEvent[])[]

/**
 * Whom a fact is an event for, and what they may see of it: both sides of a session its log, owners the status of
 * their robots, its log and its battery, everybody their notifications.
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
 * The events of one fact, in their order; none of a kind that this version does not know.
 * @throws ZodError when the fact is not what its name promises
 */
export function eventsOf({ name, payload, created_at }: StoredDomainEvent, parties: Parties): NewUserEvent[] {
  const known = Object.hasOwn(converters, name) ? converters[name] : undefined
  return known?.(payload, parties).flatMap((events) => events(created_at)) ?? []
}

/** The session that a fact is about, if it is about one. */
export function sessionOf({ name, payload }: StoredDomainEvent): string | undefined {
  if (name !== 'session.event') return undefined
  return SessionLogEvent.safeParse(payload).data?.session_id
}
