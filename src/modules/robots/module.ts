import type { CoreServices } from '../../core/core-services.ts'
import type { Endpoint } from '../../core/http/endpoint.ts'
import { cronQueue } from '../../core/jobs/cron-queue.ts'
import { createBatteryJob } from './battery.worker.ts'
import {
  robotDataEndpoint,
  robotEndpoints,
  robotHealthEndpoint,
  robotLogEndpoint,
  robotModelEndpoints,
  robotPairingEndpoints,
} from './robot.routes.ts'
import { createRobots } from './robot.service.ts'
import { createRobotViews } from './robot.view.ts'
import { createRobotData } from './robot-data.service.ts'
import { SAMPLE_MINUTES } from './robot-health.schema.ts'
import { createRobotHealth } from './robot-health.service.ts'
import { createRobotLists } from './robot-list.service.ts'
import { createRobotLogs } from './robot-log.service.ts'
import { createRobotLogStore } from './robot-log.store.ts'
import { createRobotLogJobs } from './robot-log.worker.ts'
import { createRobotModels } from './robot-model.service.ts'
import { createRobotPairings } from './robot-pairing.service.ts'
import { createRobotTokens } from './robot-token.ts'
import { createRobotWatch } from './robot-watch.ts'

const ROBOT_LOG_CLEAN_UP = cronQueue('robot-log-clean-up', '* * * * *', 'Removes old robot log lines')

const ROBOT_HEALTH = cronQueue(
  'robot-health',
  `*/${SAMPLE_MINUTES} * * * *`,
  'Samples the batteries of connected robots and removes old samples',
)

/** Creates the services of robots: registration, tokens, pairing codes, status feeds, logs, health and battery reports. */
export function createRobotServices(
  core: CoreServices,
  options: {
    readonly settings: { readonly robotsRequireCertification: boolean; readonly robotLogDays: number }
    readonly cancelScheduled: Parameters<typeof createRobots>[0]['cancelScheduled']
    readonly certifications: Parameters<typeof createRobotWatch>[0]['certifications']
  },
) {
  const robotLogJobs = createRobotLogJobs({ ...core, keptDays: options.settings.robotLogDays })
  core.jobs.register(ROBOT_LOG_CLEAN_UP, robotLogJobs.clean)
  const robotHealth = createRobotHealth(core)
  core.jobs.register(ROBOT_HEALTH, robotHealth.sample)
  const robotTokens = createRobotTokens(core.secrets)
  return {
    robots: createRobots({
      ...core,
      cancelScheduled: options.cancelScheduled,
      requireCertification: options.settings.robotsRequireCertification,
    }),
    robotLists: createRobotLists(core),
    robotModels: createRobotModels(core),
    robotTokens,
    robotPairings: createRobotPairings({ ...core, tokens: robotTokens }),
    robotWatch: createRobotWatch({ ...core, certifications: options.certifications }),
    robotLogs: createRobotLogs(core),
    robotLogStore: createRobotLogStore(core),
    robotLogJobs,
    robotHealth,
    robotData: createRobotData({ ...core, logDays: options.settings.robotLogDays }),
    batteryJob: createBatteryJob(core),
  }
}
export type RobotServices = ReturnType<typeof createRobotServices>

/** Returns the routes of robots, of their logs, health and pairing codes, and of the robot models. */
export const robotsEndpoints = (services: RobotServices, gatewayUrl: () => string): Endpoint[] => [
  ...robotEndpoints({
    robots: services.robots,
    robotLists: services.robotLists,
    views: createRobotViews(gatewayUrl),
    tokens: services.robotTokens,
  }),
  robotLogEndpoint(services),
  robotHealthEndpoint(services),
  robotDataEndpoint(services),
  ...robotPairingEndpoints(services, gatewayUrl),
  ...robotModelEndpoints(services),
]
