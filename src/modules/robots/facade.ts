import type { CoreServices } from '../../core/core-services.ts'
import type { Endpoint } from '../../core/http/endpoint.ts'
import { createBatteryJob } from './battery.worker.ts'
import { robotEndpoints } from './robot.routes.ts'
import { createRobots } from './robot.service.ts'
import { createRobotViews } from './robot.view.ts'
import { robotLogEndpoint } from './robot-log.routes.ts'
import { createRobotLogs } from './robot-log.service.ts'
import { createRobotLogStore } from './robot-log.store.ts'
import { createRobotLogJobs } from './robot-log.worker.ts'
import { robotModelEndpoints } from './robot-model.routes.ts'
import { createRobotTokens } from './robot-token.ts'
import { createRobotWatch } from './robot-watch.ts'

/** Creates the services of robots: registration, tokens, status feeds, logs and battery reports. */
export const createRobotServices = (
  core: CoreServices,
  options: {
    readonly settings: { readonly robotsRequireCertification: boolean; readonly robotLogDays: number }
    readonly cancelScheduled: Parameters<typeof createRobots>[0]['cancelScheduled']
    readonly certifications: Parameters<typeof createRobotWatch>[0]['certifications']
  },
) => ({
  robots: createRobots({
    ...core,
    cancelScheduled: options.cancelScheduled,
    requireCertification: options.settings.robotsRequireCertification,
  }),
  robotTokens: createRobotTokens(core.secrets),
  robotWatch: createRobotWatch({ ...core, certifications: options.certifications }),
  robotLogs: createRobotLogs(core),
  robotLogStore: createRobotLogStore(core),
  robotLogJobs: createRobotLogJobs({ ...core, keptDays: options.settings.robotLogDays }),
  batteryJob: createBatteryJob(core),
})
export type RobotServices = ReturnType<typeof createRobotServices>

/** Returns the routes of robots, of their logs and of the robot models. */
export const robotsEndpoints = (
  services: RobotServices,
  core: CoreServices,
  gatewayUrl: () => string,
): Endpoint[] => [
  ...robotEndpoints({
    robots: services.robots,
    views: createRobotViews(gatewayUrl),
    tokens: services.robotTokens,
  }),
  robotLogEndpoint(services),
  ...robotModelEndpoints(core),
]
