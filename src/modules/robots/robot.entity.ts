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
  indexes: [
    {
      name: 'one_robot_per_hardware_id',
      expression:
        'create unique index "one_robot_per_hardware_id" on "robots" (lower(btrim("hardware_id"))) where "deleted_at" is null',
    },
    {
      name: 'robots_by_owner',
      expression:
        'create index "robots_by_owner" on "robots" ("owner_id", "created_at" desc, "id" desc) where "deleted_at" is null',
    },
    // Also counts robots by status and type with an index-only scan.
    {
      name: 'robots_by_owner_status',
      expression:
        'create index "robots_by_owner_status" on "robots" ("owner_id", "status", "created_at" desc, "id" desc) include ("robot_type") where "deleted_at" is null',
    },
    {
      name: 'robots_by_owner_name',
      expression:
        'create index "robots_by_owner_name" on "robots" ("owner_id", lower("name"), "id") where "deleted_at" is null',
    },
    {
      name: 'robots_by_owner_type',
      expression:
        'create index "robots_by_owner_type" on "robots" ("owner_id", "robot_type", "created_at" desc, "id" desc) where "deleted_at" is null',
    },
    {
      name: 'robots_available',
      expression: `create index "robots_available" on "robots" ("created_at" desc, "id" desc) where "status" = 'AVAILABLE' and "deleted_at" is null`,
    },
    {
      name: 'robots_available_by_type',
      expression: `create index "robots_available_by_type" on "robots" ("robot_type", "created_at" desc, "id" desc) where "status" = 'AVAILABLE' and "deleted_at" is null`,
    },
    {
      name: 'robots_newest',
      expression: `create index "robots_newest" on "robots" (("created_at" at time zone 'UTC') desc, "id" desc) where "deleted_at" is null`,
    },
    {
      name: 'robots_by_name',
      expression:
        'create index "robots_by_name" on "robots" (lower("name") text_pattern_ops) where "deleted_at" is null',
    },
    // Robots without tags are not in it, so that their connections do not write to it.
    {
      name: 'robots_by_tag',
      expression: `create index "robots_by_tag" on "robots" using gin ("tags") where "deleted_at" is null and "tags" <> '{}'`,
    },
    // Counts the tags of an owner.
    {
      name: 'robots_with_tags',
      expression: `create index "robots_with_tags" on "robots" ("owner_id") where "deleted_at" is null and "tags" <> '{}'`,
    },
    { name: 'robots_link_changed', properties: ['linkChangedAt'] },
  ],
  checks: [{ name: 'robots_recording_days_check', expression: '"recording_days" between 1 and 3650' }],
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
