import type { CoreServices } from '../../core/core-services.ts'
import type { Endpoint } from '../../core/http/endpoint.ts'
import { createActivity } from './activity.service.ts'
import { createClientProfiles } from './client-profile.service.ts'
import {
  activityEndpoint,
  clientOverviewEndpoint,
  clientProfileEndpoints,
  clientStatsEndpoints,
  liveRobotEndpoint,
} from './clients.routes.ts'
import { createLiveRobots } from './live-robot.service.ts'
import { createClientOverview } from './overview.service.ts'
import { createClientStats } from './stats.service.ts'

/** Creates the services of clients: company profile, live robots, their activity, overview and statistics. */
export function createClients(core: CoreServices) {
  const liveRobots = createLiveRobots(core)
  return {
    activity: createActivity(core),
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
  activityEndpoint(clients),
]
