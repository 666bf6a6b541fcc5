import type { CoreServices } from '../../core/core-services.ts'
import type { Endpoint } from '../../core/http/endpoint.ts'
import { createClientProfiles } from './client-profile.service.ts'
import {
  clientOverviewEndpoint,
  clientProfileEndpoints,
  clientStatsEndpoints,
  liveRobotEndpoint,
} from './clients.routes.ts'
import { createLiveRobots } from './live-robot.service.ts'
import { createClientOverview } from './overview.service.ts'
import { createClientStats } from './stats.service.ts'

/** Creates the services of clients: company profile, live robots, overview and statistics. */
export function createClients(core: CoreServices) {
  const liveRobots = createLiveRobots(core)
  return {
    clientProfiles: createClientProfiles(core),
    clientStats: createClientStats(core),
    liveRobots,
    clientOverviews: createClientOverview({ ...core, liveRobots }),
  }
}
export type Clients = ReturnType<typeof createClients>

/** Returns the routes of the client profile, the live robots, the overview and the statistics. */
export const clientsEndpoints = (clients: Clients): Endpoint[] => [
  ...clientProfileEndpoints(clients),
  ...clientStatsEndpoints(clients),
  liveRobotEndpoint(clients),
  clientOverviewEndpoint(clients),
]
