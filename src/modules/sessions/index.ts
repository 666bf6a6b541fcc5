export {
  type ControlPersistence,
  createControlPersistence,
  type LatencyIncrement,
} from './control/control-persistence.service.ts'
export { exportEndpoints } from './export/export.routes.ts'
export { createSessionExports } from './export/export.service.ts'
export { extensionEndpoints } from './extensions/extension.routes.ts'
export { createExtensions } from './extensions/extension.service.ts'
export { BUCKET_COUNT, bucketOf } from './latency/latency-histogram.ts'
export { createAbandonmentWorker } from './lifecycle/abandonment.worker.ts'
export { sessionEndpoints } from './lifecycle/session.routes.ts'
export { createSessionLifecycle, type SessionLifecycle } from './lifecycle/session-lifecycle.ts'
export { createSessionPresence, type SessionPresence } from './lifecycle/session-presence.ts'
export { createSchedule } from './lifecycle/session-schedule.ts'
export { createSessionStarts } from './lifecycle/session-start.ts'
export { stopReasonOf } from './lifecycle/session-stop.ts'
export { createMessages, type Messages } from './messages/message.service.ts'
export { ratingEndpoints } from './ratings/rating.routes.ts'
export { createRatings } from './ratings/rating.service.ts'
export { sessionDetail } from './record/session.view.ts'
export { averageRating, ratingCount, sessionsByStatus } from './record/session-counts.ts'
export { createSessionQueries, type SessionQueries } from './record/session-queries.ts'
export { clearableBy, requesterRole } from './record/stop-authority.ts'
export { ticketEndpoints } from './tickets/ticket.routes.ts'
export { createSessionTickets } from './tickets/ticket.service.ts'
export { createTicketStore, type TicketStore, type TicketVerdict } from './tickets/ticket.store.ts'
export {
  createTickets,
  TICKET_LIFETIME_MS,
  type Ticket,
  type TicketClaims,
  type TicketPart,
  type Tickets,
} from './tickets/ticket.ts'
