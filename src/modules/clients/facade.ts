import type { CoreServices } from '../../core/core-services.ts'
import type { Endpoint } from '../../core/http/endpoint.ts'
import { clientProfileEndpoints } from './client-profile.routes.ts'
import { createClientProfiles } from './client-profile.service.ts'
import { clientStatsEndpoints } from './stats.routes.ts'
import { createClientStats } from './stats.service.ts'

/** Creates the services of clients: company profile and statistics. */
export const createClients = (core: CoreServices) => ({
  clientProfiles: createClientProfiles(core),
  clientStats: createClientStats(core),
})
export type Clients = ReturnType<typeof createClients>

/** Returns the routes of the client profile and its statistics. */
export const clientsEndpoints = (clients: Clients): Endpoint[] => [
  ...clientProfileEndpoints(clients),
  ...clientStatsEndpoints(clients),
]
