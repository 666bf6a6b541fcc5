import type { CoreServices } from '../../core/core-services.ts'
import type { Endpoint } from '../../core/http/endpoint.ts'
import type { Settle } from '../billing/index.ts'
import type { Users } from '../identity/index.ts'
import { createControlPersistence } from './control/control-persistence.service.ts'
import { exportEndpoints } from './export/export.routes.ts'
import { createSessionExports } from './export/export.service.ts'
import { extensionEndpoints } from './extensions/extension.routes.ts'
import { createExtensions } from './extensions/extension.service.ts'
import { controlLeaseEndpoints } from './lease/control-lease.routes.ts'
import { createControlLeases } from './lease/control-lease.service.ts'
import { createAbandonmentWorker } from './lifecycle/abandonment.worker.ts'
import { sessionEndpoints } from './lifecycle/session.routes.ts'
import { createSessionLifecycle } from './lifecycle/session-lifecycle.ts'
import { sessionListEndpoints } from './lifecycle/session-list.routes.ts'
import { createSessionPresence } from './lifecycle/session-presence.ts'
import { createSchedule } from './lifecycle/session-schedule.ts'
import { createSessionStarts } from './lifecycle/session-start.ts'
import { createMessages } from './messages/message.service.ts'
import { ratingEndpoints } from './ratings/rating.routes.ts'
import { createRatings } from './ratings/rating.service.ts'
import { createSessionLists } from './record/session-list.service.ts'
import { createSessionQueries } from './record/session-queries.ts'
import { createExportWriter } from './stored-exports/export-writer.ts'
import { storedExportEndpoints } from './stored-exports/stored-export.routes.ts'
import {
  createSessionExportJobs,
  createStoredExports,
  EXPORT_CLEAN_UP,
  SESSION_EXPORTS,
} from './stored-exports/stored-export.service.ts'
import { ticketEndpoints } from './tickets/ticket.routes.ts'
import { createSessionTickets } from './tickets/ticket.service.ts'
import { createTicketStore } from './tickets/ticket.store.ts'
import { createTickets } from './tickets/ticket.ts'

/** Creates the services of sessions: their lifecycle, log, tickets, and what the gateway stores about them. */
export function createSessions(
  core: CoreServices,
  options: {
    readonly settings: {
      /** How long an open session waits for its lost robot. */
      readonly robotGraceMs: number
      readonly operatorJoinMs: number
      readonly pauseLimitMs: number
      readonly operatorGoneMs: number
    }
    readonly settle: Settle
    readonly users: Users
  },
) {
  const { settings, settle, users } = options
  const queries = createSessionQueries(core)
  const starts = createSessionStarts(core)
  const tickets = createTickets(core)
  const ticketStore = createTicketStore(core)
  const exports = createSessionExports(core)
  const exportJobs = createSessionExportJobs(core)
  const storedExports = createStoredExports({ ...core, exports, exportJobs })
  core.jobs.register(SESSION_EXPORTS, exportJobs.handler(createExportWriter({ ...core, exports })))
  core.jobs.register(EXPORT_CLEAN_UP, async () => {
    await exportJobs.failAbandoned()
    await storedExports.removeExpired()
  })
  const controlLeases = createControlLeases({ ...core, queries })
  const lifecycle = createSessionLifecycle({ ...core, queries, starts, settle })
  return {
    queries,
    lists: createSessionLists(core),
    starts,
    lifecycle,
    controlLeases,
    tickets,
    ticketStore,
    messages: createMessages({ ...core, queries }),
    extensions: createExtensions({ ...core, queries }),
    ratings: createRatings({ ...core, queries }),
    exports,
    storedExports,
    sessionTickets: createSessionTickets({ ...core, queries, tickets, ticketStore }),
    presence: createSessionPresence({ ...core, ...settings }),
    controlPersistence: createControlPersistence({ ...core, queries, users, controlLeases }),
    schedule: createSchedule({ ...core, starts, lifecycle }),
    abandonment: createAbandonmentWorker({ ...core, lifecycle, ...settings }),
  }
}
export type Sessions = ReturnType<typeof createSessions>

/** Returns the routes below /api/sessions. */
export const sessionsEndpoints = (sessions: Sessions, users: Users, core: CoreServices): Endpoint[] => [
  ...sessionListEndpoints({ ...sessions, now: core.now }),
  ...sessionEndpoints({ ...sessions, isOperator: users.isOperator, now: core.now }),
  ...extensionEndpoints(sessions),
  ...ratingEndpoints({ ...sessions, now: core.now }),
  ...ticketEndpoints(sessions),
  ...controlLeaseEndpoints(sessions),
  ...exportEndpoints({ ...core, exports: sessions.exports }),
  ...storedExportEndpoints(sessions),
]
