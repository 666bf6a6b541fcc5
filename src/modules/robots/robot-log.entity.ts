import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { RobotLogLevel } from '@wheelhouse/protocol'
import type { TablesOf } from '../../core/database/tables.ts'
import { Robot } from './robot.entity.ts'

/**
 * How far the log of a robot is numbered, up to which number it is no longer kept, and the lines that the next event
 * will report. No row: the robot has not logged anything.
 */
export const RobotLogStream = defineEntity({
  name: 'RobotLogStream',
  tableName: 'robot_log_streams',
  indexes: [
    {
      name: 'robot_log_streams_events',
      expression:
        'create index "robot_log_streams_events" on "robot_log_streams" ("robot_id") where "event_lines" > 0',
    },
  ],
  checks: [
    { name: 'robot_log_streams_range', expression: '"pruned_to" between 0 and "head"' },
    {
      name: 'robot_log_streams_event',
      expression: '("event_lines" > 0) = ("event_level" is not null)',
    },
  ],
  properties: {
    robot: () => p.manyToOne(Robot).mapToPk().primary().deleteRule('cascade'),
    head: p.bigint('number'),
    prunedTo: p.bigint('number').default(0),
    /** Size of the messages that are kept. */
    bytes: p.bigint('number').default(0),
    /** Lines that reached the robot's level since the last event; the most severe one speaks for them. */
    eventLines: p.integer().default(0),
    eventLevel: p.enum(RobotLogLevel.options).nullable(),
    eventMessage: p.text().nullable(),
    eventSince: p.datetime(3).nullable(),
    /** When the last event was published. */
    eventAt: p.datetime(3).nullable(),
  },
})
export type RobotLogStream = InferEntity<typeof RobotLogStream>

/** One line of the log of a robot. `seq` is gapless per robot. */
export const RobotLogLine = defineEntity({
  name: 'RobotLogLine',
  tableName: 'robot_logs',
  indexes: [{ name: 'robot_logs_by_age', properties: ['at'] }],
  properties: {
    robot: () => p.manyToOne(Robot).mapToPk().primary().deleteRule('cascade'),
    seq: p.bigint('number').primary(),
    level: p.enum(RobotLogLevel.options),
    message: p.text(),
    /** How many lines are missing here: above 0 the gateway wrote this line in place of those. */
    dropped: p.integer().default(0),
    /** When the gateway received it. */
    at: p.datetime(3),
  },
})
export type RobotLogLine = InferEntity<typeof RobotLogLine>

declare module '../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof RobotLogStream | typeof RobotLogLine> {}
}
