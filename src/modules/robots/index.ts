export { StoredControlSchema, StoredTelemetrySchema } from './declared-schema-fields.ts'
export { linkChanged } from './link-changed.ts'
export { createRobotServices, robotsEndpoints } from './module.ts'
export { ownedByClient } from './owned-by-client.ts'
export { Robot } from './robot.entity.ts'
export { AvailableRobot } from './robot.schema.ts'
export { countsByType } from './robot-counts.service.ts'
export { applyOperatorFilters, newestFirst, sortedPage } from './robot-filters.ts'
export {
  AVAILABLE_COUNT_MAX,
  AvailableRobotCounts,
  CountAvailableRobots,
  ListAvailableRobots,
} from './robot-list.schema.ts'
export type { ReportedLogLine, RobotLogStore } from './robot-log.store.ts'
export { RobotModelView } from './robot-model.schema.ts'
export { createRobotTokens, type RobotTokens } from './robot-token.ts'
export type { RobotWatch } from './robot-watch.ts'
