export type {
  ControlPersistence,
  LatencyIncrement,
  SessionMembership,
  SpeedIncrement,
  VideoIncrement,
} from './control/control-persistence.service.ts'
export { BUCKET_COUNT, bucketOf } from './latency/latency-histogram.ts'
export { ChangeControl } from './lease/control-lease.routes.ts'
export type { ControlLeases } from './lease/control-lease.service.ts'
export { createDirectStop, type DirectStop } from './lifecycle/direct-stop.ts'
export type { SessionLifecycle } from './lifecycle/session-lifecycle.ts'
export type { SessionPresence } from './lifecycle/session-presence.ts'
export { stopReasonOf } from './lifecycle/session-stop.ts'
export type { Messages } from './messages/message.service.ts'
export { createSessions, sessionsEndpoints } from './module.ts'
export { sessionDetail } from './record/session.view.ts'
export { averageRating, ratingCount, sessionsByStatus } from './record/session-counts.ts'
export { appendSessionNote } from './record/session-notes.ts'
export type { SessionQueries } from './record/session-queries.ts'
export { clearableBy, requesterRole } from './record/stop-authority.ts'
export type { TicketStore, TicketVerdict } from './tickets/ticket.store.ts'
export {
  createTickets,
  TICKET_LIFETIME_MS,
  type Ticket,
  type TicketClaims,
  type TicketPart,
  type Tickets,
} from './tickets/ticket.ts'
