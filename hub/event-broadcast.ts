import { rooms } from '@wheelhouse/protocol'
import type { Server } from 'socket.io'
import type { EventName, EventPayload } from '../src/core/events/catalog.ts'
import type { DomainEvent } from '../src/core/events/outbox-relay.ts'

type EventBroadcasters = { [N in EventName]: (io: Server, payload: EventPayload<N>) => void }

/** Emits each kind of domain event to the rooms that it concerns. */
const broadcasters: EventBroadcasters = {
  'session.event': (io, event) => {
    io.to(rooms.session(event.session_id)).emit('session:event', event)
  },
  notification: (io, { user_id, notification }) => {
    io.to(rooms.inbox(user_id)).emit('notification', notification)
  },
  'notification.quiet': () => {},
  'notification.read': (io, { user_id, read }) => {
    io.to(rooms.inbox(user_id)).emit('notification:read', read)
  },
  'robots.status': (io, { robots }) => {
    for (const { robot_id, status, last_heartbeat, owner_id, group_id, ...robot } of robots) {
      const open = robot.require_certification === false ? [rooms.openRobots] : []
      const marketplace = robot.operators === 'own' ? [] : [rooms.robotType(robot.robot_type), ...open]
      const group = group_id ? [rooms.robotGroup(group_id)] : []
      io.to([rooms.ownRobots(owner_id), ...group, ...marketplace]).emit('robot:status', {
        robot_id,
        status,
        last_heartbeat,
      })
    }
  },
  'robots.log': () => {},
  'robots.battery_low': () => {}, // clients receive its notifications instead
}

/** Publishes a domain event of the outbox to the sockets that it concerns, on every hub node. */
export function publishEvent(io: Server, event: DomainEvent): void {
  const broadcast = broadcasters[event.name] as ((io: Server, payload: unknown) => void) | undefined
  broadcast?.(io, event.payload) // a newer process may write events that this one does not know
}
