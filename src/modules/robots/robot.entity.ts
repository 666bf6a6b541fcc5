import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import {
  ControlLoss,
  RecordingMode,
  RobotLogLevel,
  RobotOperators,
  RobotStatus,
  StopClear,
} from '@wheelhouse/protocol'
import { referenceTo } from '../../core/database/reference.ts'
import type { TablesOf } from '../../core/database/tables.ts'
import { LogEventLevel } from './robot-log.schema.ts'
import { type ControlMode, RobotCategory } from './robot-model.schema.ts'

/**
 * A robot and its owner's settings. Heartbeats are in `robot_presence`, so that the frequently written row is small,
 * unindexed, and not the row that sessions lock.
 */
export const Robot = defineEntity({
  name: 'Robot',
  tableName: 'robots',
  properties: {
    id: p.uuid().primary(),
    owner: () => referenceTo('Organization'),
    name: p.text(),
    robotType: p.text(),
    hardwareId: p.text(),
    streamUrl: p.text().default(''),
    tags: p.array().defaultRaw(`'{}'`),
    /** Visible to the owner only. */
    notes: p.text().nullable(),
    /** Visible to operators before they start a session. Lists omit it. */
    operatorNotes: p.text().nullable(),
    status: p.enum(RobotStatus.options).default('OFFLINE'),
    requireCertification: p.boolean().default(false),
    latencyLimitMs: p.integer().default(400),
    /** The latency up to which the robot may drive at full speed; null for no limit of the speed. */
    latencyBudgetMs: p.integer().nullable(),
    /** The age of the operator's picture above which the gateway drops commands; null for no limit. */
    videoLimitMs: p.integer().nullable(),
    /** Overrides the control schema of the robot's model; null for none. Lists omit it. */
    controlSchema: p.json<Record<string, unknown>>().nullable(),
    /** Overrides the telemetry schema of the robot's model; null for none. Lists omit it. */
    telemetrySchema: p.json<Record<string, unknown>>().nullable(),
    /** The gateway drops commands that the control schema does not allow. */
    strictControl: p.boolean().default(false),
    /** The users who may clear a remote stop that the owner or an admin requested. */
    stopClear: p.enum(StopClear.options).default('owner'),
    /** The group of the owner's robots that it belongs to; null for none. */
    group: p.uuid().fieldName('group_id').nullable(),
    /** Who may drive it: members of the organization, operators of the marketplace, or both. */
    operators: p.enum(RobotOperators.options).default('both'),
    /** Who controls it after the connection of the holder was lost: the last person before, or nobody. */
    controlLoss: p.enum(ControlLoss.options).default('previous'),
    /** The content of the recordings of its sessions. */
    recording: p.enum(RecordingMode.options).default('off'),
    /** Days after which recordings are deleted; null to keep them. */
    recordingDays: p.integer().nullable(),
    /** No session can start on the robot until its owner releases it. */
    onHold: p.boolean().default(false),
    /** Lowest level at which log lines raise an event. */
    logEventLevel: p.enum(LogEventLevel.options).default('error'),
    /** Increases when the token is rotated, which invalidates older tokens. */
    tokenVersion: p.integer().default(1),
    /** Seconds of ended sessions; `total_hours` on the wire. */
    sessionSeconds: p.integer().default(0),
    /** Time of the last change that concerns the gateway: session, token, settings, deletion. */
    linkChangedAt: p.datetime(3).defaultRaw('now()'),
    createdAt: p.datetime(3).defaultRaw('now()'),
    deletedAt: p.datetime(3).nullable(),
  },
})
export type Robot = InferEntity<typeof Robot>

/** A supported robot model. */
export const RobotModel = defineEntity({
  name: 'RobotModel',
  tableName: 'robot_models',
  properties: {
    id: p.text().primary(),
    name: p.text(),
    manufacturer: p.text(),
    robotType: p.text(),
    category: p.enum(RobotCategory.options),
    degreesOfFreedom: p.integer(),
    controlModes: p.array<(typeof ControlMode.options)[number]>(),
    notes: p.text().nullable(),
    /** The commands that robots of this model accept; null while none is declared. Lists omit it. */
    controlSchema: p.json<Record<string, unknown>>().nullable().lazy(),
    /** The telemetry that robots of this model send; null while none is declared. Lists omit it. */
    telemetrySchema: p.json<Record<string, unknown>>().nullable().lazy(),
  },
})
export type RobotModel = InferEntity<typeof RobotModel>

/** The newest pairing code of a robot. A new code replaces the row, so a robot has one code at most. */
export const RobotPairing = defineEntity({
  name: 'RobotPairing',
  tableName: 'robot_pairings',
  properties: {
    robot: () => p.manyToOne(Robot).mapToPk().primary().deleteRule('cascade'),
    /** A keyed hash: a copy of the database does not disclose codes. */
    codeHash: p.text(),
    /** The version of the token at the time of the code. A rotation of the token makes the code invalid. */
    tokenVersion: p.integer(),
    expiresAt: p.datetime(3),
    usedAt: p.datetime(3).nullable(),
  },
})
export type RobotPairing = InferEntity<typeof RobotPairing>

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

/** The number of robots of an organization or a group, maintained by a trigger. A missing row means none. */
export const RobotCount = defineEntity({
  name: 'RobotCount',
  tableName: 'robot_counts',
  properties: {
    /** The id of the organization or the group. */
    id: p.uuid().primary(),
    robots: p.integer(),
  },
})
export type RobotCount = InferEntity<typeof RobotCount>

declare module '../../core/database/tables.ts' {
  interface Tables
    extends TablesOf<
      | typeof Robot
      | typeof RobotModel
      | typeof RobotPairing
      | typeof RobotLogStream
      | typeof RobotLogLine
      | typeof RobotHealthSample
      | typeof RobotCount
    > {}
}
