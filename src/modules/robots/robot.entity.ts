import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { RecordingMode, RobotStatus, StopClear } from '@wheelhouse/protocol'
import { referenceTo } from '../../core/database/reference.ts'
import type { TablesOf } from '../../core/database/tables.ts'
import { LogEventLevel } from './robot-log.schema.ts'

/**
 * A robot and its owner's settings. Heartbeats are in `robot_presence`, so that the frequently written row is small,
 * unindexed, and not the row that sessions lock.
 */
export const Robot = defineEntity({
  name: 'Robot',
  tableName: 'robots',
  properties: {
    id: p.uuid().primary(),
    owner: () => referenceTo('User'),
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

declare module '../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof Robot> {}
}
