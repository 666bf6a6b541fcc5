import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { RobotLogLevel } from '@wheelhouse/protocol'
import type { TablesOf } from '../../core/database/tables.ts'
import { Robot } from './robot.entity.ts'

/**
 * The state of a robot's log: the newest number, the newest pruned number, and the lines that the next event reports.
 * A robot without a row has not logged anything.
 */
export const RobotLogStream = defineEntity({
  name: 'RobotLogStream',
  tableName: 'robot_log_streams',
  properties: {
    robot: () => p.manyToOne(Robot).mapToPk().primary().deleteRule('cascade'),
    head: p.bigint('number'),
    prunedTo: p.bigint('number').default(0),
    /** Size of the stored messages. */
    bytes: p.bigint('number').default(0),
    /** Number of lines at or above the robot's event level since the last event. The event shows the most severe one. */
    eventLines: p.integer().default(0),
    eventLevel: p.enum(RobotLogLevel.options).nullable(),
    eventMessage: p.text().nullable(),
    eventSince: p.datetime(3).nullable(),
    /** When the last event was published. */
    eventAt: p.datetime(3).nullable(),
  },
})
export type RobotLogStream = InferEntity<typeof RobotLogStream>

/** One line of a robot's log. `seq` has no gaps per robot. */
export const RobotLogLine = defineEntity({
  name: 'RobotLogLine',
  tableName: 'robot_logs',
  properties: {
    robot: () => p.manyToOne(Robot).mapToPk().primary().deleteRule('cascade'),
    seq: p.bigint('number').primary(),
    level: p.enum(RobotLogLevel.options),
    message: p.text(),
    /** Number of lines that are missing here. Above 0, the gateway wrote this line in their place. */
    dropped: p.integer().default(0),
    /** When the gateway received the line. */
    at: p.datetime(3),
  },
})
export type RobotLogLine = InferEntity<typeof RobotLogLine>

declare module '../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof RobotLogStream | typeof RobotLogLine> {}
}
