import type { CoreServices } from '../../core/core-services.ts'
import type { Endpoint } from '../../core/http/endpoint.ts'
import { createAvailability } from './availability.service.ts'
import { createAvailableRobots } from './available-robots.service.ts'
import { certificationEndpoints } from './certification.routes.ts'
import { createCertifications } from './certification.service.ts'
import { createOperatorProfiles } from './operator-profile.service.ts'
import {
  availableRobotEndpoints,
  operatorOverviewEndpoint,
  operatorProfileEndpoints,
  operatorStatsEndpoints,
  preFlightEndpoint,
  scheduleEndpoints,
} from './operators.routes.ts'
import { createOperatorOverview } from './overview.service.ts'
import { createPreFlights } from './pre-flight.service.ts'
import { createSchedules } from './schedule.service.ts'
import { createOperatorStats } from './stats.service.ts'

/** Creates the services of operators: profile, schedule, availability, available robots, certifications, overview, pre-flight, statistics. */
export function createOperators(core: CoreServices) {
  const availableRobots = createAvailableRobots(core)
  return {
    operatorProfiles: createOperatorProfiles(core),
    operatorStats: createOperatorStats(core),
    schedules: createSchedules(core),
    availability: createAvailability(core),
    availableRobots,
    certifications: createCertifications(core),
    operatorOverviews: createOperatorOverview({ ...core, availableRobots }),
    preFlights: createPreFlights(core),
  }
}
export type Operators = ReturnType<typeof createOperators>

/** Returns the routes below /api/operator, and those of certifications. */
export const operatorsEndpoints = (operators: Operators): Endpoint[] => [
  ...operatorProfileEndpoints(operators),
  ...scheduleEndpoints(operators),
  ...availableRobotEndpoints(operators),
  ...certificationEndpoints(operators),
  ...operatorStatsEndpoints(operators),
  operatorOverviewEndpoint(operators),
  preFlightEndpoint(operators),
]
