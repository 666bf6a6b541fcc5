import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import type { TablesOf } from '../../core/database/tables.ts'
import { Robot } from './robot.entity.ts'

/**
 * A time at which a robot was connected, with its charge. One row per robot and interval, kept for a day, so a robot has
 * a few hundred rows at most.
 */
export const RobotHealthSample = defineEntity({
  name: 'RobotHealthSample',
  tableName: 'robot_health_samples',
  properties: {
    robot: () => p.manyToOne(Robot).mapToPk().primary().deleteRule('cascade'),
    /** Start of the interval, so that several workers write the same row. */
    at: p.datetime(3).primary(),
    /** Charge, 0 to 1; null when the robot has not reported it lately. */
    battery: p.float().columnType('double precision').nullable(),
  },
})
export type RobotHealthSample = InferEntity<typeof RobotHealthSample>

declare module '../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof RobotHealthSample> {}
}
